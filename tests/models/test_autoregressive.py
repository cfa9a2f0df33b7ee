"""Joint samples as objects: draws, marginals, and the moments they must share."""

import pytest
import torch

from inctnp.testing.checks import assert_close
from inctnp.testing.toy import toy_model, toy_points

MODEL = toy_model("inctnp", components=2)
X, Y = toy_points(MODEL, 6)
XT, YT = toy_points(MODEL, 3, seed=1)


def joint(draws: int, seed: int = 0):
    context = MODEL.extend(MODEL.empty(), X, Y)
    return MODEL.joint_sample(context, XT, draws, generator=torch.Generator().manual_seed(seed))


def test_draws_have_the_moments_of_their_marginals() -> None:
    sample = joint(6_000)
    error = sample.stddev / 6_000**0.5
    assert ((sample.draws.mean(0) - sample.mean).abs() < 5 * error).all()
    torch.testing.assert_close(sample.draws.std(0), sample.stddev, rtol=0.05, atol=0)
    inside = (sample.draws < sample.quantile(0.3)).double().mean(0)
    torch.testing.assert_close(inside, torch.full_like(inside, 0.3), rtol=0, atol=0.03)


def test_the_first_marginal_is_the_factorised_predictive_whatever_was_drawn() -> None:
    p = MODEL.query(MODEL.extend(MODEL.empty(), X, Y), XT)
    sample = joint(5)
    assert_close(sample.log_prob(YT)[0], p.log_prob(YT)[0], "density of the first target")
    assert_close(sample.cdf(YT)[0], p.cdf(YT)[0], "cdf of the first target")
    assert (sample.log_prob(YT)[1] - p.log_prob(YT)[1]).abs().max() > 1e-6


def test_a_draw_of_the_whole_is_one_of_the_draws() -> None:
    sample = joint(4)
    picked = sample.sample(torch.Generator().manual_seed(0))
    assert any(torch.equal(picked, draw) for draw in sample.draws)


def test_moving_a_joint_sample_moves_draws_and_marginals_alike() -> None:
    sample = joint(4)
    moved = sample.affine(1.0, 2.0)
    assert_close(moved.draws, 1 + 2 * sample.draws, "draws")
    assert_close(moved.mean, 1 + 2 * sample.mean, "mean")
    assert_close(moved.crps(1 + 2 * YT), 2 * sample.crps(YT), "crps")
    assert_close(moved.variance, 4 * sample.variance, "variance")
    one = sample.reshape(lambda t: t[1:2])
    assert torch.equal(one.draws, sample.draws[:, 1:2]) and one.mean.shape == (1, 1)


def test_another_seed_draws_otherwise() -> None:
    assert not torch.equal(joint(3).draws, joint(3, seed=1).draws)


@pytest.mark.parametrize("name", ["inctnp", "tnp-a", "tnp-d", "cnp"])
def test_a_random_order_is_drawn_for_every_draw_of_every_task(name: str) -> None:
    model = toy_model(name)
    x, y = toy_points(model, 5, batch=(2,))
    xt, _ = toy_points(model, 3, seed=1, batch=(2,))
    context = model.extend(model.empty(2), x, y)
    sample = model.joint_sample(context, xt, 40, generator=torch.Generator().manual_seed(0), random_order=True)
    with torch.no_grad():
        factorised = model.query(context, xt).mean
    was_first = (sample.marginals.means - factorised).abs() < 1e-9
    assert was_first.shape[0] == 40
    for task in range(2):
        shares = was_first[:, task, :, 0].sum(0)
        assert shares.sum() == 40 and (shares > 4).all()
