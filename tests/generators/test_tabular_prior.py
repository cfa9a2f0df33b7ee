from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from inctnp.errors import ConfigError
from inctnp.generators.base import draw_size_by_ratio
from inctnp.generators.tabular_prior import (
    SCALINGS,
    HyperNormal,
    TabularPrior,
    degenerate,
    into_classes,
    scale_features,
    scale_targets,
)

SMALL = TabularPrior(batch_size=16, context=(10, 60), targets=30)


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@settings(max_examples=25, deadline=None)
@given(
    step=st.integers(0, 10**6),
    initialisation=st.sampled_from(["absolute", "fan-in", "published"]),
    statistics=st.sampled_from(["context", "task"]),
    context=st.integers(2, 40),
)
def test_every_task_is_finite_and_varies(step: int, initialisation: str, statistics: str, context: int) -> None:
    source = replace(SMALL, initialisation=initialisation, statistics=statistics, context=(context, context))
    task = source.batch(step)
    for part in (task.xc, task.yc, task.xt, task.yt):
        assert part.isfinite().all() and part.dtype == torch.float32
    y = task.yc if statistics == "context" else torch.cat([task.yc, task.yt], dim=1)
    assert (y.amax(dim=1) > y.amin(dim=1)).all()


def test_the_sizes_are_those_asked_for() -> None:
    sizes = {SMALL.batch(step).xc.shape[1] for step in range(30)}
    task = SMALL.batch(0)
    assert min(sizes) >= 10 and max(sizes) <= 60 and len(sizes) > 10
    assert task.xt.shape == (16, 30, 20) and task.yt.shape == (16, 30, 1)


def test_a_batch_of_long_contexts_holds_fewer_tasks() -> None:
    bounded = replace(SMALL, most_points=400)
    for step in range(30):
        tasks, context, _ = bounded.batch(step).xc.shape
        assert tasks == min(SMALL.batch_size, 400 // (context + SMALL.targets))
    assert replace(SMALL, most_points=1).batch(0).xc.shape[0] == 1


def test_log_uniform_contexts_fall_into_every_doubling_alike() -> None:
    source = rng()
    sizes = torch.tensor([draw_size_by_ratio((16, 1023), source) for _ in range(6000)])
    assert sizes.min() >= 16 and sizes.max() <= 1023
    # Bins of one doubling each: 16-31, 32-63, ..., 512-1023.
    counts = torch.bincount(torch.log2(sizes.double()).floor().long() - 4, minlength=6)
    assert scipy.stats.chisquare(counts.numpy()).pvalue > 1e-3


def test_a_batch_depends_on_seed_and_step_alone() -> None:
    source, twin = TabularPrior(batch_size=8), TabularPrior(batch_size=8)
    twin.batch(3)
    first, again, other = source.batch(7), twin.batch(7), source.batch(8)
    assert torch.equal(first.xc, again.xc) and torch.equal(first.yt, again.yt)
    assert first.xc.shape != other.xc.shape or not torch.equal(first.xc, other.xc)
    assert not torch.equal(first.xc[0, 0], replace(source, seed=1).batch(7).xc[0, 0])


def test_features_fill_the_first_columns_and_zeros_the_rest() -> None:
    task = TabularPrior(batch_size=200, context=(200, 200), features=(2, 9), causal=0.0, samplings=("normal",)).batch(0)
    used = (task.xc != 0).any(dim=1)
    count = used.sum(dim=1)
    # Cutting into classes can leave a feature constant, but hardly ever.
    assert set(range(2, 10)) <= set(count.tolist()) <= set(range(10))
    assert (used == (torch.arange(20) < count.unsqueeze(1))).all(dim=1).double().mean() > 0.9
    assert (task.xc[:, :, 9:] == 0).all() and (task.xt[:, :, 9:] == 0).all()


def test_features_are_standardised_by_the_context_alone() -> None:
    task = TabularPrior(batch_size=64, context=(50, 50)).batch(1)
    used = (task.xc != 0).any(dim=1)
    assert_close(task.xc.mean(dim=1), torch.zeros(64, 20), atol=1e-5, rtol=0)
    assert_close(task.xc.std(dim=1, correction=0)[used], torch.ones(int(used.sum())), atol=1e-3, rtol=0)
    assert task.xt.mean(dim=1).abs().max() > 1e-2


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), known=st.integers(4, 30))
def test_what_comes_later_leaves_the_context_alone(seed: int, known: int) -> None:
    columns = torch.randn(12, 40, generator=rng(seed)).exp()
    changed = columns.clone()
    changed[:, known:] = 1e4 * torch.randn(12, 40 - known, generator=rng(seed + 1))
    results = []
    for each in (columns, changed):
        x, y = each.clone(), each[:10]
        into_classes(x, torch.tensor([1, 4]), known, rng(seed))
        scale_features(x, known)
        y = scale_targets(y, known, torch.arange(10) % 5)
        results.append((x, y))
    (x, y), (x_changed, y_changed) = results
    assert torch.equal(x[:, :known], x_changed[:, :known]) and torch.equal(y[:, :known], y_changed[:, :known])
    assert not torch.equal(x, x_changed) and not torch.equal(y, y_changed)


def test_the_five_scalings_of_the_target_do_what_they_say() -> None:
    y = torch.randn(1, 101, generator=rng(3)).mul(7).add(3).repeat(5, 1)
    z, unit, symmetric, largest, robust = scale_targets(y, 101, torch.arange(5))
    assert_close(torch.stack([z.mean(), z.std(correction=0)]), torch.tensor([0.0, 1.0]), atol=1e-5, rtol=0)
    assert_close(unit.aminmax(), (torch.tensor(0.0), torch.tensor(1.0)))
    assert_close(symmetric.aminmax(), (torch.tensor(-1.0), torch.tensor(1.0)))
    assert_close(largest, y[0] / y[0].abs().max())
    quartiles = np.quantile(robust.numpy(), [0.25, 0.5, 0.75])
    assert quartiles[1] == pytest.approx(0, abs=1e-6) and quartiles[2] - quartiles[0] == pytest.approx(1, abs=1e-5)


def test_targets_beyond_three_interquartile_ranges_are_clipped() -> None:
    y = torch.linspace(0, 1, 101)[None].clone()
    y[0, 7], y[0, 8] = 50.0, -50.0
    q1, q3 = np.quantile(y.numpy(), [0.25, 0.75])
    scaled = scale_targets(y, 101, torch.tensor([SCALINGS.index("max-abs")]))
    assert scaled[0, 7] == 1.0
    assert scaled[0, 8].item() == pytest.approx((q1 - 3 * (q3 - q1)) / (q3 + 3 * (q3 - q1)), rel=1e-5)


def test_a_constant_feature_becomes_zero() -> None:
    columns = torch.full((1, 20), 0.1)
    scale_features(columns, 10)
    assert (columns == 0).all()


def test_classes_are_whole_numbers_that_keep_the_order() -> None:
    columns = torch.randn(30, 500, generator=rng(4))
    cut = columns.clone()
    into_classes(cut, torch.arange(0, 30, 2), 500, rng(5))
    assert torch.equal(cut[1::2], columns[1::2])
    classes = cut[::2]
    assert torch.equal(classes, classes.round()) and classes.min() == 0
    assert (classes.amax(dim=1) >= 1).all() and len(set(classes.amax(dim=1).tolist())) > 3
    order = columns[::2].argsort(dim=1)
    assert (classes.gather(1, order).diff(dim=1) >= 0).all()


def test_degenerate_targets_are_recognised() -> None:
    y = torch.randn(5, 50, generator=rng(6))
    y[1] = 3.0
    y[2, 3] = torch.nan
    y[3] = 1e4 + 1e-3 * y[3]
    y[4, :40] = 0.0
    assert degenerate(y).tolist() == [False, True, True, True, True]


def test_settings_that_never_vary_still_give_a_task() -> None:
    nothing = HyperNormal(mean=(1e-30, 1e-30), std=(1e-30, 1e-30), least=0.0)
    source = replace(SMALL, weights=nothing, noise=nothing, causal=0.0, batch_size=3)
    task = source.batch(0)
    assert task.yc.isfinite().all() and (task.yc.std(dim=1) > 0).all()


@pytest.mark.parametrize(("mean", "std", "least"), [(2.0, 3.0, 2.0), (0.1, 5.0, 0.0), (1.0, 0.2, 2.0)])
def test_truncated_normals_pass_a_test_of_fit(mean: float, std: float, least: float) -> None:
    sample = HyperNormal(mean=(mean, mean), std=(std, std), least=least).draw(20_000, rng(7)).numpy()
    law = scipy.stats.truncnorm((least - mean) / std, np.inf, loc=mean, scale=std)
    assert scipy.stats.kstest(sample, law.cdf).pvalue > 1e-3


def test_more_context_makes_better_predictions() -> None:
    """The tasks can be learned: a linear fit to more of the context explains half the variance more often."""
    task = TabularPrior(batch_size=200, context=(400, 400), features=(3, 6)).batch(0)
    x, xt = (torch.cat([each, torch.ones_like(each[..., :1])], dim=-1).double() for each in (task.xc, task.xt))
    ridge = 1e-3 * torch.eye(x.shape[-1], dtype=torch.float64)
    explained = []
    for n in (8, 400):
        weights = torch.linalg.solve(x[:, :n].mT @ x[:, :n] + ridge, x[:, :n].mT @ task.yc[:, :n].double())
        error = (xt @ weights - task.yt).square().mean(dim=1)
        explained.append((error < 0.5 * task.yt.var(dim=1)).double().mean().item())
    assert explained[1] > 0.3 and explained[1] > 1.5 * explained[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"features": (2, 21)},
        {"features": (0, 5)},
        {"context": (1, 5)},
        {"context": (9, 5)},
        {"causal": 1.5},
        {"dropout": 1.0},
        {"activations": ("gelu",)},
        {"samplings": ()},
        {"scalings": ("log",)},
        {"initialisation": "xavier"},
        {"statistics": "future"},
        {"spread": "normal"},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        replace(SMALL, **wrong)


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(ConfigError, match="std"):
        HyperNormal(mean=(1.0, 2.0), std=(0.0, 1.0), least=0.0)
