from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest
import torch
from scipy import stats

from inctnp.errors import ConfigError
from inctnp.generators.gp import GPTasks
from inctnp.generators.kernels import MIXED, NAMES
from inctnp.task import Task

Covariance = Callable[[str, float, np.ndarray, np.ndarray], np.ndarray]
Conditioning = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]
MANY = GPTasks(families=MIXED, batch_size=12, context=(0, 9), targets=5, shared_kernel=False, seed=4)


def covariance(task: Task, row: int, kernels: Covariance) -> np.ndarray:
    """Of context and targets together, by scikit-learn."""
    kernel = task.truth.kernel
    x = torch.cat([task.xc, task.xt], dim=1)[row].double().numpy()
    name, scale = NAMES[int(kernel.family[row])], float(kernel.lengthscale[row])
    return kernels(name, scale, x, x) + MANY.noise**2 * np.eye(len(x))


@pytest.mark.parametrize("step", range(6))
def test_the_optimum_is_brute_force_conditioning(
    step: int, reference_kernel: Covariance, condition: Conditioning
) -> None:
    task = MANY.batch(step)
    factorised, joint = task.truth.factorised_log_prob(task), task.truth.joint_log_prob(task)
    y = torch.cat([task.yc, task.yt], dim=1).squeeze(-1).double().numpy()
    seen = task.xc.shape[1]
    for row in range(MANY.batch_size):
        mean, cov = condition(covariance(task, row, reference_kernel), y[row], seen)
        each = stats.norm(mean, np.sqrt(np.diag(cov))).logpdf(y[row, seen:])
        np.testing.assert_allclose(factorised[row], each, rtol=1e-8, atol=1e-8)
        together = stats.multivariate_normal(mean, cov).logpdf(y[row, seen:])
        np.testing.assert_allclose(joint[row], together, rtol=1e-8, atol=1e-8)


def test_an_empty_context_is_scored_by_the_prior() -> None:
    source = replace(MANY, context=(0, 0))
    task = source.batch(0)
    prior = stats.norm(0, np.sqrt(1 + source.noise**2)).logpdf(task.yt.squeeze(-1).double().numpy())
    np.testing.assert_allclose(task.truth.factorised_log_prob(task), prior, rtol=1e-10)


def test_draws_have_the_covariance_they_claim(reference_kernel: Covariance) -> None:
    """Whitened by an independent implementation of their covariance, draws are independent standard normals."""
    white = []
    for step in range(120):
        task = replace(MANY, context=(6, 6), targets=2).batch(step)
        y = torch.cat([task.yc, task.yt], dim=1).double().numpy()
        white += [
            np.linalg.solve(np.linalg.cholesky(covariance(task, row, reference_kernel)), y[row])[:, 0]
            for row in range(12)
        ]
    z = np.array(white)
    assert stats.kstest(z.ravel(), stats.norm.cdf).pvalue > 1e-3
    correlation = np.corrcoef(z.T) - np.eye(8)
    assert np.abs(correlation).max() < 4.5 / np.sqrt(len(z))


def test_the_mean_optimum_is_the_known_one() -> None:
    """Over all context sizes in equal shares, which is much less noisy than drawing them."""
    source = GPTasks(batch_size=16, shared_kernel=False, seed=11)
    tasks = [replace(source, context=(size, size)).batch(0) for size in range(1, 65)]
    factorised = torch.stack([task.truth.factorised_log_prob(task).mean() for task in tasks]).mean()
    joint = torch.stack([task.truth.joint_log_prob(task).mean() / 128 for task in tasks]).mean()
    assert factorised == pytest.approx(0.450, abs=0.05) and joint == pytest.approx(0.780, abs=0.03)


@pytest.mark.parametrize(
    "workers",
    [lambda: ThreadPoolExecutor(3), lambda: ProcessPoolExecutor(1, mp_context=get_context("spawn"))],
    ids=["threads", "another process"],
)
def test_any_worker_makes_the_same_batches_in_any_order(workers: Callable[[], Executor]) -> None:
    steps = [5, 0, 3, 9]
    here = [MANY.batch(step) for step in steps]
    with workers() as pool:
        there = list(pool.map(MANY.batch, reversed(steps)))[::-1]
    for ours, theirs in zip(here, there, strict=True):
        assert torch.equal(ours.xc, theirs.xc) and torch.equal(ours.yc, theirs.yc)
        assert torch.equal(ours.xt, theirs.xt) and torch.equal(ours.yt, theirs.yt)
        assert torch.equal(ours.truth.joint_log_prob(ours), theirs.truth.joint_log_prob(theirs))


def test_seed_and_step_both_matter() -> None:
    batches = [replace(MANY, context=(4, 4), seed=seed).batch(step).yc for seed in (0, 1) for step in (0, 1)]
    assert all(not torch.equal(a, b) for i, a in enumerate(batches) for b in batches[:i])


def test_inputs_fill_the_domain_and_sizes_their_range() -> None:
    tasks = [MANY.batch(step) for step in range(80)]
    assert {task.xc.shape[1] for task in tasks} == set(range(10))
    x = torch.cat([task.xt.flatten() for task in tasks])
    assert stats.kstest(x.numpy(), stats.uniform(-2, 4).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    "settings",
    [{"families": ("cubic",)}, {"families": ()}, {"lengthscales": (1.0, 0.5)}, {"noise": 0.0}, {"context": (5, 2)}],
)
def test_contradictory_settings_are_refused(settings: dict) -> None:
    with pytest.raises(ConfigError):
        GPTasks(**settings)


@pytest.mark.parametrize("step", range(4))
def test_the_outlook_is_the_exact_posterior_of_every_target_and_of_every_step(step: int) -> None:
    source = replace(MANY, outlook=True)
    task = source.batch(step)
    assert task.outlook is not None
    mean, std = task.truth.predict(task)
    np.testing.assert_allclose(task.outlook.mean.squeeze(-1), mean, atol=1e-4)
    np.testing.assert_allclose(task.outlook.std.squeeze(-1), std, rtol=1e-4)
    x, y = task.as_sequence()
    for i in range(x.shape[1]):
        before = Task(xc=x[:, :i], yc=y[:, :i], xt=x[:, i : i + 1], yt=y[:, i : i + 1])
        mean, std = task.truth.predict(before)
        np.testing.assert_allclose(task.outlook.step_mean[:, i], mean, atol=1e-4)
        np.testing.assert_allclose(task.outlook.step_std[:, i], std, rtol=1e-4)


def test_the_outlook_changes_no_task_and_does_not_outlive_its_context() -> None:
    with_outlook, without = replace(MANY, outlook=True).batch(3), MANY.batch(3)
    assert torch.equal(with_outlook.yt, without.yt)
    assert without.outlook is None
    assert with_outlook.prefix(1).outlook is None
    assert with_outlook.permute(torch.Generator()).outlook is None
    doubled = with_outlook.map(torch.Tensor.double).outlook
    assert doubled is not None
    assert all(part.dtype == torch.float64 for part in doubled)
