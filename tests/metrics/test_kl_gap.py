import math
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
import torch

from inctnp.baselines.exact_gp import ExactGP
from inctnp.errors import ConfigError, DataError
from inctnp.generators.gp import GPTasks
from inctnp.metrics.kl_gap import (
    KLGapSettings,
    OrderPlan,
    Question,
    kl_gap,
    kl_gap_per_task,
    log_ratio,
    sampled_gap,
    summarise,
    teacher_forced_gap,
)
from inctnp.metrics.order_mixture import collect
from inctnp.metrics.orders import all_orders, random_orders, rearrange, restore
from inctnp.predictive.mixture import Mixture
from inctnp.task import Task
from inctnp.testing.toy import toy_model
from tests.metrics.conftest import Forgetful, normal_log_density, rng, soft_model, toy_task

FEW = KLGapSettings(mixture_orders=5, evaluation_orders=3, draws=4)


@torch.no_grad()
def one_stream(model: Any, task: Task, row: int, order: tuple[int, ...], outcomes: Any) -> tuple[Any, Any]:
    """Means and deviations of one task's targets visited in one order, every step from a fresh context."""
    x, y = task.xc[row], task.yc[row]
    means, stds = np.empty(len(order)), np.empty(len(order))
    for i in order:
        p = model.query(model.extend(model.empty(), x, y), task.xt[row, i : i + 1])
        means[i], stds[i] = p.mean.item(), p.stddev.item()
        x, y = torch.cat([x, task.xt[row, i : i + 1]]), torch.cat([y, outcomes[i : i + 1]])
    return means, stds


def question_of(model: Any, task: Task) -> Question:
    return Question(model, model.extend(model.empty(task.batch), task.xc, task.yc), task.xt, task.yt)


@pytest.mark.parametrize("targets", [3, 4])
def test_the_mixture_over_all_orders_is_brute_force(small: Any, targets: int) -> None:
    """Densities under each of the n! orders and under their mixture, at the truth and elsewhere."""
    task = toy_task(small, 3, targets)
    values = torch.randn(2, 2, targets, 1, generator=rng(5), dtype=torch.float64)
    with torch.no_grad():
        orders = all_orders(task.xt.shape[:-1])
        mixture = question_of(small, task).streams(orders)
        each, mixed = mixture.log_prob_each(values), mixture.log_prob(values)
    for row in range(2):
        expected = np.empty((math.factorial(targets), 2))
        for g, order in enumerate(permutations(range(targets))):
            means, stds = one_stream(small, task, row, order, task.yt[row])
            for s in range(2):
                expected[g, s] = normal_log_density(values[s, row, :, 0].numpy(), means, stds).sum()
        np.testing.assert_allclose(each[:, :, row], expected, rtol=1e-9)
        np.testing.assert_allclose(mixed[:, row], np.log(np.exp(expected).mean(axis=0)), rtol=1e-9)


@pytest.mark.parametrize("targets", [3, 4])
def test_the_ratio_fed_with_its_own_outcomes_is_brute_force(small: Any, targets: int) -> None:
    task = toy_task(small, 3, targets, batch=(1,))
    outcomes = torch.randn(1, targets, 1, generator=rng(6), dtype=torch.float64)
    orders = all_orders(task.xt.shape[:-1])
    expected = []
    for order in permutations(range(targets)):
        means, stds = one_stream(small, task, 0, order, outcomes[0])
        expected.append(normal_log_density(outcomes[0, :, 0].numpy(), means, stds).sum())
    with torch.no_grad():
        for index in (0, 1, len(orders) - 1):
            ratio = log_ratio(question_of(small, task), orders, orders[index], outcomes)
            np.testing.assert_allclose(ratio[0], expected[index] - np.log(np.exp(expected).mean()), rtol=1e-9)


def test_the_teacher_forced_gap_is_the_divergence_by_quadrature(small: Any) -> None:
    """n = 3: KL of a product of three normals from the mixture of six, integrated on a grid of 40³ points."""
    task = toy_task(small, 3, 3, batch=(1,))
    streams = [one_stream(small, task, 0, order, task.yt[0]) for order in permutations(range(3))]
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    points = np.array(list(product(nodes, repeat=3)))
    weight = np.array([np.prod(w) for w in product(weights, repeat=3)]) / (2 * np.pi) ** 1.5
    exact = 0.0
    for means, stds in streams:
        y = means + stds * points
        own = normal_log_density(y, means, stds).sum(axis=1)
        each = np.array([normal_log_density(y, m, s).sum(axis=1) for m, s in streams])
        exact += (weight * (own - np.log(np.exp(each).mean(axis=0)))).sum() / len(streams)
    orders = all_orders(task.xt.shape[:-1])
    with torch.no_grad():
        question = question_of(small, task)
        all_streams = question.streams(orders)
        plan = OrderPlan(orders, orders, 4000)
        runs = [teacher_forced_gap(question, plan, all_streams, all_streams, rng(s)).item() for s in range(5)]
    assert exact > 0
    # Five standard errors of 24 000 samples, estimated from five runs, or a millinat.
    tolerance = max(5 * np.std(runs, ddof=1) / math.sqrt(5), 1e-3)
    assert np.mean(runs) == pytest.approx(exact, abs=tolerance)


def quadrature(rule: Forgetful, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q(y1, y2 | x1, x2) in either order on a fine grid, and the area of one cell."""
    axis = np.linspace(-14, 14, 701)
    y1, y2 = np.meshgrid(axis, axis, indexing="ij")

    def density(xa: float, ya: np.ndarray, xb: float, yb: np.ndarray) -> np.ndarray:
        first = normal_log_density(ya, *rule.law(0.0, 0.0, xa))
        return np.exp(first + normal_log_density(yb, *rule.law(xa, ya, xb)))

    return density(x[0], y1, x[1], y2), density(x[1], y2, x[0], y1), np.array((axis[1] - axis[0]) ** 2)


def divergence(q: np.ndarray, p: np.ndarray, cell: np.ndarray) -> float:
    inside = q > 1e-300
    return float((q[inside] * (np.log(q[inside]) - np.log(np.maximum(p[inside], 1e-300)))).sum() * cell)


def test_the_gap_is_what_exchanging_the_rule_gains_whatever_the_truth(forgetful: Forgetful) -> None:
    """Equation 9 for two targets, by quadrature: KL[q ‖ p] = KL[q̂ ‖ p] + gap; and the gap is the one estimated."""
    x = np.array([0.9, -0.7])
    forward, backward, cell = quadrature(forgetful, x)
    assert forward.sum() * cell == pytest.approx(1, abs=1e-6)
    exchangeable = 0.5 * (forward + backward)
    gap = 0.5 * (divergence(forward, exchangeable, cell) + divergence(backward, exchangeable, cell))
    axis = np.linspace(-14, 14, 701)
    for scale, correlation in ((1.3, 0.5), (2.0, -0.2)):  # an exchangeable truth: equal variances
        y1, y2 = np.meshgrid(axis, axis, indexing="ij")
        form = (y1**2 - 2 * correlation * y1 * y2 + y2**2) / (1 - correlation**2) / scale**2
        truth = np.exp(-0.5 * form) / (2 * np.pi * scale**2 * math.sqrt(1 - correlation**2))
        before = 0.5 * (divergence(forward, truth, cell) + divergence(backward, truth, cell))
        assert before == pytest.approx(divergence(exchangeable, truth, cell) + gap, rel=1e-6)
    task_batch = 400
    xt = torch.tensor(x).view(1, 2, 1).expand(task_batch, 2, 1)
    question = Question(forgetful, forgetful.empty(task_batch), xt, torch.zeros_like(xt))
    orders = all_orders(xt.shape[:-1])
    plan = OrderPlan(orders, orders, 20)
    with torch.no_grad():
        streams = question.streams(orders)
        estimates = sampled_gap(question, plan, streams, streams, rng(1))
    sem = estimates.std().item() / math.sqrt(task_batch)
    assert gap > 0.05
    assert estimates.mean().item() == pytest.approx(gap, abs=5 * sem)
    assert 5 * sem < 0.25 * gap


def gp_task(**settings: Any) -> tuple[ExactGP, Task]:
    task = GPTasks(batch_size=4, shared_kernel=False, **settings).batch(0)
    return ExactGP(kernel=task.truth.kernel, noise=task.truth.noise), task


def test_an_exact_process_has_no_gap_and_nothing_to_gain() -> None:
    gp, task = gp_task(context=(5, 5), targets=8)
    result = kl_gap(gp, [task], FEW, rng(), sampled_gap)
    assert abs(result.gap.mean) < 1e-9
    assert result.nll_gap is not None and result.exchangeable_nll_gap is not None
    assert abs(result.nll_gap.mean) < 1e-9
    assert abs(result.exchangeable_nll_gap.mean) < 1e-9


def test_teacher_forcing_gives_even_an_exact_process_a_gap() -> None:
    """What a target's factor conditions on depends on its place, and true outcomes are not the samples."""
    gp, task = gp_task(context=(5, 5), targets=8)
    assert kl_gap(gp, [task], KLGapSettings(mixture_orders=64, evaluation_orders=16, draws=16), rng()).gap.mean > 0.5


def test_without_dependence_between_targets_both_gaps_vanish() -> None:
    """The opposite end: pure noise is predicted alike in every order."""
    task = GPTasks(batch_size=4, context=(5, 5), targets=4).batch(0)
    noise = ExactGP(kernel=lambda a, b: torch.zeros(*a.shape[:-1], b.shape[-2], dtype=torch.float64), noise=1.0)
    for estimate in (teacher_forced_gap, sampled_gap):
        assert abs(kl_gap(noise, [task], FEW, rng(), estimate).gap.mean) < 1e-12


def test_the_process_of_each_batch_gives_one_reference() -> None:
    pairs = [gp_task(context=(5, 5), targets=4, seed=s) for s in range(3)]
    rows = [kl_gap_per_task(gp, task, FEW, rng(s)) for s, (gp, task) in enumerate(pairs)]
    result = summarise(rows)
    assert result.gap.tasks == 12 and result.gap.mean == pytest.approx(torch.cat([r.gap for r in rows]).mean().item())
    assert result.nll_gap is not None and abs(result.nll_gap.mean) < 1e-9
    with pytest.raises(DataError):
        summarise([])


def test_likelihoods_are_means_over_orders_and_gaps_are_to_the_truth() -> None:
    model = soft_model("inctnp", dim_x=1)
    _, task = gp_task(context=(4, 4), targets=3)
    task = task.map(torch.Tensor.double)
    settings = KLGapSettings(mixture_orders=4, evaluation_orders=6, draws=1)
    result = kl_gap(model, [task], settings, rng(3))
    orders = rng(3)
    mixture, evaluated = (random_orders(count, task.xt.shape[:-1], orders) for count in (4, 6))
    context = model.extend(model.empty(task.batch), task.xc, task.yc)
    with torch.no_grad():
        joint = [
            torch.stack([model.joint_log_prob(context, rearrange(task.xt, o), rearrange(task.yt, o)) for o in some])
            for some in (mixture, evaluated)
        ]
    best = task.truth.joint_log_prob(task)
    np.testing.assert_allclose(result.nll.mean, -joint[1].mean(), rtol=1e-9)
    np.testing.assert_allclose(
        result.exchangeable_nll.mean, -np.log(np.exp(joint[0].numpy()).mean(0)).mean(), rtol=1e-9
    )
    assert result.nll_gap is not None
    np.testing.assert_allclose(result.nll_gap.mean, (best - joint[1].mean(0)).mean(), rtol=1e-9)
    assert result.targets == 3 and result.gap.tasks == 4


def test_dense_passes_are_as_many_as_orders() -> None:
    model = toy_model("inctnp")
    task = toy_task(model, 3, 3)
    calls = []
    plain = model.conditionals
    model.conditionals = lambda *arguments: calls.append(1) or plain(*arguments)
    result = kl_gap(model, [task], KLGapSettings(mixture_orders=7, evaluation_orders=5, draws=9), rng())
    assert len(calls) == 7 + 5
    assert result.nll_gap is None


def test_mixture_heads_are_scored_like_gaussian_ones() -> None:
    """The general path and the matrix product agree where both apply: one Gaussian written as two."""
    means, stds = (
        torch.randn(2, 3, 4, 1, generator=rng()).double(),
        torch.rand(2, 3, 4, 1, generator=rng(1)).double() + 0.01,
    )
    values = torch.randn(5, 3, 4, 1, generator=rng(2)).double() * 3
    zero = torch.zeros(1, 3, 4, 1).double()
    one = collect([Mixture(zero, m[None], s[None]) for m, s in zip(means, stds, strict=True)])
    half = torch.full((2, 3, 4, 1), 0.5).double().log()
    two = collect([Mixture(half, torch.stack([m, m]), torch.stack([s, s])) for m, s in zip(means, stds, strict=True)])
    torch.testing.assert_close(one.log_prob(values), two.log_prob(values), rtol=1e-9, atol=1e-9)


def test_restore_undoes_rearrange() -> None:
    points = torch.arange(12.0).view(2, 3, 2)
    for order in random_orders(4, torch.Size([2, 3]), rng()):
        assert torch.equal(restore(rearrange(points, order), order), points)


def test_no_orders_are_refused() -> None:
    with pytest.raises(ConfigError):
        KLGapSettings(mixture_orders=0)


def test_densities_far_from_zero_keep_their_digits() -> None:
    """Sharp predictions around 10⁴: squares taken apart there would lose everything behind the fourth digit."""
    means = 1e4 + torch.randn(3, 1, 5, 1, generator=rng()).double()
    streams = collect([Mixture(torch.zeros_like(m), m, torch.full_like(m, 1e-2)) for m in means])
    values = streams.draw(0, 4, rng(1))
    expected = normal_log_density(values[None].numpy(), means.numpy(), np.array(1e-2)).sum(axis=(2, 3))
    np.testing.assert_allclose(streams.log_prob_each(values), expected, rtol=1e-9, atol=1e-7)
