"""The average over context orders against every order in turn."""

import itertools
import math

import pytest
import torch

from inctnp.errors import ConfigError, ShapeError
from inctnp.models.order_averaged import OrderAveraged
from inctnp.streaming.recompute import joint_log_prob_step_by_step, query_from_scratch
from inctnp.testing.checks import assert_close
from inctnp.testing.toy import toy_model, toy_points

MODEL = toy_model("inctnp")


@torch.no_grad()
def test_many_random_orders_approach_the_sum_over_all_of_them() -> None:
    x, y = toy_points(MODEL, 3)
    xt, yt = toy_points(MODEL, 2, seed=1)
    averaged = OrderAveraged(MODEL, 600, torch.Generator().manual_seed(0))
    context = averaged.extend(averaged.empty(), x, y)
    orders = [list(order) for order in itertools.permutations(range(3))]
    each = torch.stack([query_from_scratch(MODEL, x[o], y[o], xt).log_prob(yt) for o in orders])
    exact = torch.logsumexp(each, 0) - math.log(6)
    torch.testing.assert_close(averaged.query(context, xt).log_prob(yt), exact, rtol=0.05, atol=0.2)

    # Every part is one of the six orders, and all six are there.
    means = torch.stack([query_from_scratch(MODEL, x[o], y[o], xt).mean for o in orders])
    nearest = (averaged.query(context, xt).means[:, None] - means).abs().amax(dim=(-2, -1))
    assert nearest.amin(dim=1).max() < 1e-10
    counts = nearest.argmin(dim=1).bincount(minlength=6)
    assert counts.min() > 60


@torch.no_grad()
def test_the_joint_density_is_a_mixture_of_joints_not_a_product_of_mixtures() -> None:
    x, y = toy_points(MODEL, 2)
    xt, yt = toy_points(MODEL, 3, seed=1)
    averaged = OrderAveraged(MODEL, 4, torch.Generator().manual_seed(1))
    context = averaged.extend(averaged.empty(), x, y)
    orders = [[0, 1], [1, 0]]
    joints = [joint_log_prob_step_by_step(MODEL, x[o], y[o], xt, yt) for o in orders]
    mean0 = averaged.query(context, xt).means[:, 0, 0]
    first = query_from_scratch(MODEL, x, y, xt).mean[0, 0]
    forwards = int(((mean0 - first).abs() < 1e-10).sum())
    parts = torch.stack([joints[0]] * forwards + [joints[1]] * (4 - forwards))
    assert_close(averaged.joint_log_prob(context, xt, yt), torch.logsumexp(parts, 0) - math.log(4), "joint mixture")


@pytest.mark.parametrize("name", ["cnp", "tnp-d", "tnp-a", "inctnp-prior"])
@torch.no_grad()
def test_any_model_can_be_averaged_over_any_batch(name: str) -> None:
    model = toy_model(name)
    x, y = toy_points(model, 4, batch=(2,))
    averaged = OrderAveraged(model, 3, torch.Generator().manual_seed(0))
    context = averaged.extend(averaged.empty(2), x, y)
    assert averaged.query(context, x).mean.shape == (2, 4, 1)
    assert averaged.joint_log_prob(context, x, y).shape == (2,)
    sample = averaged.joint_sample(context, x, 5)
    assert sample.draws.shape == (15, 2, 4, 1) and sample.mean.shape == (2, 4, 1)
    if name != "inctnp-prior":  # an invariant model changes nothing but the number of equal parts
        plain = model.query(model.extend(model.empty(2), x, y), x)
        assert_close(averaged.query(context, x).mean, plain.mean, "an invariant model")


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ConfigError, match="At least one order"):
        OrderAveraged(MODEL, 0)
    averaged = OrderAveraged(MODEL, 2)
    x, y = toy_points(MODEL, 4)
    with pytest.raises(ShapeError, match="x has 4 points and y has 3"):
        averaged.extend(averaged.empty(), x, y[:3])
