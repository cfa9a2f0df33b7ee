import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from torch.utils.flop_counter import FlopCounterMode

from inctnp.baselines.covariance import ARDKernel
from inctnp.baselines.exact_gp import ExactGP
from inctnp.baselines.ski import no_statistics
from inctnp.baselines.wiski import LEAST_NOISE, WISKI, WISKIConfig, WISKIContext, tabular_config
from inctnp.errors import ConfigError, ShapeError

LINE = WISKIConfig(grid=12, pretrain_points=5, pretrain_epochs=15)
TABLE = replace(tabular_config(4, 100), grid=5, pretrain_epochs=15)


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def data(points: int, dim_x: int = 1, batch: tuple[int, ...] = ()) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.rand(*batch, points, dim_x, generator=rng(points)).double() * 4 - 2
    y = torch.sin(2 * x).sum(dim=-1, keepdim=True)
    return x, y + 0.2 * torch.randn(y.shape, generator=rng(1)).double()


def from_scratch(
    model: WISKI, context: WISKIContext, w: np.ndarray, y: np.ndarray, wt: np.ndarray
) -> tuple[Any, Any, float]:
    """Structured kernel interpolation by the textbook: the whole n × n covariance, inverted."""
    kernel = ARDKernel(
        model.config.family, context.parameters["log_lengthscale"].exp(), context.parameters["log_variance"].exp()
    )
    places = model.grid.points()
    k = kernel(places, places).numpy()
    k = k + 1e-8 * np.diag(np.diag(k))
    noise = LEAST_NOISE + context.parameters["log_noise"].exp().item()
    covariance = w @ k @ w.T + noise * np.eye(len(w))
    cross = wt @ k @ w.T
    mean = cross @ np.linalg.solve(covariance, y)
    variance = np.diag(wt @ k @ wt.T - cross @ np.linalg.solve(covariance, cross.T)) + noise
    return mean, np.sqrt(variance), stats.multivariate_normal(np.zeros(len(w)), covariance).logpdf(y)


@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
@pytest.mark.parametrize("chunks", [(30,), (1, 1, 7, 3, 18), (5, 25)])
def test_after_any_stream_it_is_ski_refitted_from_scratch(chunks: tuple[int, ...], interpolation: str) -> None:
    model = WISKI(replace(LINE, interpolation=interpolation))
    x, y = data(30)
    xt, _ = data(8)
    context = model.empty()
    for xs, ys in zip(x.split(list(chunks)), y.split(list(chunks)), strict=True):
        context = model.extend(context, xs, ys)
    weights = model.grid.weights(x).numpy()
    mean, std, density = from_scratch(model, context, weights, y[:, 0].numpy(), model.grid.weights(xt).numpy())
    p = model.query(context, xt)
    np.testing.assert_allclose(p.mean[:, 0], mean, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(p.stddev[:, 0], std, rtol=1e-6)
    np.testing.assert_allclose(model.posterior(context).log_marginal(), density, rtol=1e-6)


def test_how_the_stream_was_cut_does_not_matter() -> None:
    model = WISKI(LINE)
    x, y = data(20)
    at_once = model.extend(model.empty(), x, y)
    context = model.empty()
    for i in range(20):
        context = model.extend(context, x[i : i + 1], y[i : i + 1])
    for name in at_once.parameters:
        torch.testing.assert_close(context.parameters[name], at_once.parameters[name], rtol=1e-8, atol=1e-10)
    torch.testing.assert_close(context.statistics.gram, at_once.statistics.gram)


def test_with_a_stem_points_keep_the_weights_they_had_when_they_came() -> None:
    model = WISKI(TABLE)
    x, y = data(12, dim_x=4)
    context, rows = model.empty(), []
    for i in range(12):
        context = model.extend(context, x[i : i + 1], y[i : i + 1])
        if len(context) == 5:
            rows.append(model._weights(context.parameters, context.normalisation, x[:5]))
        if len(context) > 5:
            rows.append(model._weights(context.parameters, context.normalisation, x[i : i + 1]))
    weights = torch.cat(rows).numpy()
    np.testing.assert_allclose(context.statistics.gram, weights.T @ weights, atol=1e-10)
    asked = model._weights(context.parameters, context.normalisation, x[:3]).numpy()
    mean, std, _ = from_scratch(model, context, weights, y[:, 0].numpy(), asked)
    p = model.query(context, x[:3])
    np.testing.assert_allclose(p.mean[:, 0], mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(p.stddev[:, 0], std, rtol=1e-6)


def test_a_finer_grid_approaches_the_exact_process() -> None:
    x, y = data(25)
    xt, _ = data(9)
    errors = []
    for size in (8, 16, 32, 64):
        model = WISKI(replace(LINE, grid=size, pretrain_points=25, pretrain_epochs=0))
        context = model.extend(model.empty(), x, y)
        kernel = ARDKernel("rbf", torch.tensor([0.5]).double(), torch.tensor(1.0).double())
        exact = ExactGP(kernel=kernel, noise=math.sqrt(0.1 + LEAST_NOISE))
        best, ours = exact.query(exact.extend(exact.empty(), x, y), xt), model.query(context, xt)
        errors.append(max((ours.mean - best.mean).abs().max().item(), (ours.stddev - best.stddev).abs().max().item()))
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 1e-3


def test_repeated_inputs_do_no_harm() -> None:
    """Two hundred observations of one place: its mean is learned, and the variance left is the noise."""
    model = WISKI(replace(LINE, stream_rate=0.0))
    x, y = data(5)
    many = torch.full((200, 1), 0.3).double()
    outcomes = 1.5 + 0.2 * torch.randn(200, 1, generator=rng(3)).double()
    context = model.extend(model.extend(model.empty(), x, y), many, outcomes)
    p = model.query(context, many[:1])
    noise = LEAST_NOISE + context.parameters["log_noise"].exp().item()
    assert p.mean.item() == pytest.approx(outcomes.mean().item(), abs=0.05)
    assert noise < p.variance.item() < noise * (1 + 2 / 200)
    moving = WISKI(LINE)
    learned = moving.extend(moving.extend(moving.empty(), x, y), many, outcomes)
    assert torch.isfinite(moving.query(learned, x).stddev).all()


def test_learning_raises_the_likelihood_before_and_while_streaming() -> None:
    x, y = data(40)
    scores = {}
    for name, config in {
        "none": replace(LINE, pretrain_epochs=0, stream_rate=0.0),
        "early": replace(LINE, pretrain_points=40, pretrain_epochs=100),
        "streaming": replace(LINE, pretrain_epochs=0, stream_rate=1.0),
    }.items():
        model = WISKI(config)
        posterior = model.posterior(model.extend(model.empty(), x, y))
        scores[name] = posterior.log_marginal().item()
    assert scores["early"] > scores["none"] + 1
    assert scores["streaming"] > scores["none"] + 1


def test_the_stem_learns_from_the_newest_point() -> None:
    model = WISKI(TABLE)
    x, y = data(6, dim_x=4)
    early = model.extend(model.empty(), x[:5], y[:5])
    later = model.extend(early, x[5:], y[5:])
    for name in ("stem_weight", "stem_gain", "stem_shift"):
        assert not torch.equal(early.parameters[name], later.parameters[name])
    rates = TABLE.rates(TABLE.stream_rate)
    assert rates["log_noise"] == pytest.approx(1e-3) and rates["stem_weight"] == pytest.approx(1e-4)
    # The first step of Adam is as long as its rate.
    moved = (later.parameters["log_noise"] - early.parameters["log_noise"]).abs().item()
    assert moved == pytest.approx(1e-3, rel=1e-3)


def test_tasks_of_a_batch_do_not_meet() -> None:
    model = WISKI(LINE)
    x, y = data(8, batch=(3,))
    together = model.query(model.extend(model.empty(3), x, y), x)
    for row in range(3):
        alone = model.query(model.extend(model.empty(), x[row], y[row]), x[row])
        torch.testing.assert_close(together.mean[row], alone.mean, rtol=1e-7, atol=1e-9)
        torch.testing.assert_close(together.stddev[row], alone.stddev, rtol=1e-7, atol=1e-9)


def test_conditionals_predict_then_learn() -> None:
    model = WISKI(LINE)
    x, y = data(7)
    xt, yt = data(4)
    context = model.extend(model.empty(), x, y)
    together, state = model.conditionals(context, xt, yt), context
    for i in range(4):
        alone = model.query(state, xt[i : i + 1])
        torch.testing.assert_close(together.mean[i : i + 1], alone.mean)
        torch.testing.assert_close(together.stddev[i : i + 1], alone.stddev)
        state = model.extend(state, xt[i : i + 1], yt[i : i + 1])
    total = stats.norm(together.mean.numpy(), together.stddev.numpy()).logpdf(yt.numpy()).sum()
    np.testing.assert_allclose(model.joint_log_prob(context, xt, yt), total, rtol=1e-10)
    assert len(context) == 7


def test_frozen_it_is_a_process_whose_draws_have_its_joint_density() -> None:
    model = WISKI(replace(LINE, stream_rate=0.0))
    x, y = data(9)
    context = model.extend(model.empty(), x, y)
    xt = torch.tensor([[-0.4], [0.1], [0.2]]).double()
    draws = model.joint_sample(context, xt, 3000, generator=rng(2)).draws
    weights = model.grid.weights(xt)
    half = model.posterior(context).half @ weights.mT
    noise = model.posterior(context).noise
    covariance = (half.mT @ half + noise * torch.eye(3).double()).numpy()
    np.testing.assert_allclose(np.cov(draws[..., 0].numpy().T), covariance, atol=0.15 * np.diag(covariance).max())
    law = stats.multivariate_normal(model.query(context, xt).mean[:, 0].numpy(), covariance)
    np.testing.assert_allclose(model.joint_log_prob(context, xt, draws[0]), law.logpdf(draws[0, :, 0]), rtol=1e-6)


def test_the_work_of_an_update_is_that_of_the_grid_however_much_was_seen() -> None:
    def work(points: int) -> tuple[int, int]:
        model = WISKI(LINE)
        x, y = data(points)
        context = model.extend(model.empty(), x, y)
        with FlopCounterMode(display=False) as counter:
            after = model.extend(context, x[:1], y[:1])
        return counter.get_total_flops(), after.nbytes

    assert work(6) == work(60)


def test_statistics_take_a_point_in_twice_the_square_of_the_grid() -> None:
    for grid in (8, 16, 32):
        statistics, weights = no_statistics(torch.Size(), grid), torch.rand(1, grid).double()
        with FlopCounterMode(display=False) as counter:
            statistics.add(weights, torch.ones(1, 1).double())
        assert counter.get_total_flops() == 2 * grid**2 + 2 * grid


def test_before_pretraining_it_answers_from_what_it_holds() -> None:
    model = WISKI(LINE)
    x, y = data(3)
    context = model.extend(model.empty(), x, y)
    assert (len(context), context.statistics.count) == (3, 0)
    mean, std, _ = from_scratch(
        model, context, model.grid.weights(x).numpy(), y[:, 0].numpy(), model.grid.weights(x).numpy()
    )
    np.testing.assert_allclose(model.query(context, x).mean[:, 0], mean, rtol=1e-6)
    np.testing.assert_allclose(model.query(context, x).stddev[:, 0], std, rtol=1e-6)
    prior = model.query(model.empty(), x)
    assert prior.mean.abs().max() < 1e-12 and (prior.variance - 1.1).abs().max() < 0.1


def test_contradictions_are_refused() -> None:
    with pytest.raises(ConfigError, match="bounds"):
        WISKIConfig(stem=2)
    with pytest.raises(ConfigError):
        WISKIConfig(pretrain_points=0)
    model = WISKI(LINE)
    with pytest.raises(ShapeError, match=r"\[points, 1\]"):
        model.query(model.empty(), torch.zeros(3, 2))
    with pytest.raises(ConfigError, match="order"):
        model.joint_log_prob(model.empty(), torch.zeros(2, 1), torch.zeros(2, 1), orders=3)
