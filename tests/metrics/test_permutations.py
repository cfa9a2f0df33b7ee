from itertools import permutations

import numpy as np
import pytest
import torch

from inctnp.errors import ConfigError
from inctnp.metrics.log_likelihood import FACTORISED, log_likelihood, scores_per_task
from inctnp.metrics.permutations import (
    PermutationDistribution,
    in_context_order,
    order_averaged_log_likelihood,
    permutation_distribution,
)
from inctnp.testing.toy import toy_model
from tests.metrics.conftest import rng, soft_model, toy_task


def test_every_value_is_the_score_of_some_order() -> None:
    model = toy_model("inctnp")
    task = toy_task(model, 3, 2, batch=(2,))
    orders = [torch.tensor(order).expand(2, 3) for order in permutations(range(3))]
    every = [scores_per_task(model, [in_context_order(task, order)], FACTORISED) for order in orders]
    found = permutation_distribution(model, [task], 40, rng()).per_task
    for row in range(2):
        expected = np.unique(np.round([scores[row].item() for scores in every], 9))
        np.testing.assert_allclose(np.unique(np.round(found[:, row].numpy(), 9)), expected, atol=1e-8)


def test_a_set_has_a_distribution_of_one_value() -> None:
    model = toy_model("tnp-d")
    tasks = [toy_task(model, 4, 3), toy_task(model, 5, 2, seed=4)]
    result = permutation_distribution(model, tasks, 5, rng())
    assert result.stddev < 1e-12
    assert result.mean == pytest.approx(log_likelihood(model, tasks).mean, rel=1e-10)


def test_summaries_are_numpys() -> None:
    values = torch.randn(9, 7, generator=rng()).double()
    result, test_set = PermutationDistribution(values), values.numpy().mean(axis=1)
    np.testing.assert_allclose(result.test_set(), test_set)
    np.testing.assert_allclose(result.quantiles(), np.quantile(test_set, [0.25, 0.5, 0.75]))
    np.testing.assert_allclose(result.stddev, test_set.std(ddof=1))
    np.testing.assert_allclose(result.stddev_of_a_task.mean, values.numpy().std(axis=0, ddof=1).mean())


def test_resampling_mixes_orders_of_different_tasks() -> None:
    """With two orders and two tasks there are four test sets, of which each row alone is but two."""
    values = torch.tensor([[0.0, 0.0], [1.0, 2.0]]).double()
    found = PermutationDistribution(values).resampled(60, rng()).unique()
    np.testing.assert_allclose(found, [0.0, 0.5, 1.0, 1.5])


@torch.no_grad()
def test_averaging_mixes_densities_target_by_target() -> None:
    model = soft_model("inctnp")
    task = toy_task(model, 4, 3, batch=(1,))
    one, three = order_averaged_log_likelihood(model, [task], (1, 3), rng(2))
    keys = torch.rand(3, 1, 4, generator=rng(2)).argsort(dim=-1)
    densities = []
    for order in keys[:, 0]:
        p = model.query(model.extend(model.empty(), task.xc[0, order], task.yc[0, order]), task.xt[0])
        densities.append(p.log_prob(task.yt[0]).exp().numpy())
    np.testing.assert_allclose(one.score.mean, np.log(densities[0]).mean(), rtol=1e-9)
    np.testing.assert_allclose(three.score.mean, np.log(np.mean(densities, axis=0)).mean(), rtol=1e-9)
    np.testing.assert_allclose(three.gain.mean, three.score.mean - one.score.mean, rtol=1e-9)
    assert (one.orders, three.orders, one.gain.mean) == (1, 3, 0.0)


def test_no_orders_are_refused() -> None:
    model = toy_model("inctnp")
    with pytest.raises(ConfigError):
        permutation_distribution(model, [toy_task(model, 3, 2)], 0, rng())
    with pytest.raises(ConfigError):
        order_averaged_log_likelihood(model, [toy_task(model, 3, 2)], (), rng())
