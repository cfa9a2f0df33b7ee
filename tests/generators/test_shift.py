from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats

from inctnp.errors import ConfigError, DataError
from inctnp.generators.gp import GPTasks, GPTruth
from inctnp.generators.kernels import MIXED, NAMES
from inctnp.generators.shift import ChangeSurface, ShiftStream, ShiftTasks
from inctnp.seeding import generator

Covariance = Callable[[str, float, np.ndarray, np.ndarray], np.ndarray]
Conditioning = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]
SMALL = ShiftTasks(families=MIXED, batch_size=5, context=(12, 12), targets=3, centre=6.0, temperature=2.0, seed=8)


def sigmoid(t: np.ndarray, centre: float, temperature: float) -> np.ndarray:
    return 1 / (1 + np.exp(-(t - centre) / (temperature + 1e-6)))


def covariance(stream: ShiftStream, row: int, step: int, kernels: Covariance) -> np.ndarray:
    """The paper's k_cs over the first `step` points and the targets, written out with scikit-learn's kernels."""
    x = torch.cat([stream.x[row, :step], stream.xt[row]]).double().numpy()
    t = np.concatenate([np.arange(1, step + 1), np.full(stream.xt.shape[1], step)])
    w = sigmoid(t, stream.surface.centre, stream.surface.temperature)
    k1, k2 = (
        kernels(NAMES[int(kernel.family[row])], float(kernel.lengthscale[row]), x, x)
        for kernel in (stream.surface.before, stream.surface.after)
    )
    return np.outer(1 - w, 1 - w) * k1 + np.outer(w, w) * k2 + stream.noise**2 * np.eye(len(x))


@pytest.mark.parametrize("step", [0, 1, 5, 6, 12])
def test_the_optimum_is_brute_force_conditioning_on_the_change_surface(
    step: int, reference_kernel: Covariance, condition: Conditioning
) -> None:
    stream = SMALL.stream(0)
    task, along = stream.at(step), stream.factorised_log_prob()
    factorised, joint = task.truth.factorised_log_prob(task), task.truth.joint_log_prob(task)
    for row in range(SMALL.batch_size):
        y = np.concatenate([stream.y[row, :step, 0].double().numpy(), stream.yt[row, step].double().numpy()])
        mean, cov = condition(covariance(stream, row, step, reference_kernel), y, step)
        each = stats.norm(mean, np.sqrt(np.diag(cov))).logpdf(y[step:])
        np.testing.assert_allclose(factorised[row], each, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(along[row, step], each, rtol=1e-8, atol=1e-8)
        together = stats.multivariate_normal(mean, cov).logpdf(y[step:])
        np.testing.assert_allclose(joint[row], together, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(stream.joint_log_prob()[row, step], together, rtol=1e-8, atol=1e-8)


def test_draws_have_the_covariance_they_claim(reference_kernel: Covariance) -> None:
    white = []
    for number in range(250):
        stream = SMALL.stream(number)
        for row in range(SMALL.batch_size):
            y = torch.cat([stream.y[row, :8, 0], stream.yt[row, 8]]).double().numpy()
            white.append(np.linalg.solve(np.linalg.cholesky(covariance(stream, row, 8, reference_kernel)), y))
    z = np.array(white)
    assert stats.kstest(z.ravel(), stats.norm.cdf).pvalue > 1e-3
    assert np.abs(np.corrcoef(z.T) - np.eye(11)).max() < 4.5 / np.sqrt(len(z))


def test_the_transition_is_centred_and_as_wide_as_its_temperature() -> None:
    kernel = SMALL.stream(0).surface.before
    surface = ChangeSurface(before=kernel, after=kernel, centre=20.0, temperature=10.0)
    w = surface.omega(torch.tensor([20.0, 20 + 10 * np.log(19), 20 - 10 * np.log(19)]))
    assert w.tolist() == pytest.approx([0.5, 0.95, 0.05], abs=1e-6)


def test_temperature_zero_is_a_jump() -> None:
    surface = replace(SMALL, temperature=0.0).stream(0).surface
    assert surface.omega(torch.tensor([5.0, 6.0, 7.0])).tolist() == [0.0, 0.5, 1.0]


def test_far_from_the_shift_it_is_an_ordinary_gaussian_process() -> None:
    for centre, side in ((1e6, "before"), (-1e6, "after")):
        task = replace(SMALL, centre=centre).batch(3)
        ordinary = GPTruth(kernel=getattr(task.truth.surface, side), noise=SMALL.noise)
        torch.testing.assert_close(task.truth.factorised_log_prob(task), ordinary.factorised_log_prob(task))
        torch.testing.assert_close(task.truth.joint_log_prob(task), ordinary.joint_log_prob(task))


def test_both_kernels_share_their_family_and_differ_in_lengthscale() -> None:
    surface = replace(SMALL, batch_size=40).stream(0).surface
    assert torch.equal(surface.before.family, surface.after.family) and len(surface.before.family.unique()) > 1
    assert (surface.before.lengthscale != surface.after.lengthscale).all()


def test_one_pair_of_kernels_can_serve_the_batch() -> None:
    surface = replace(SMALL, shared_kernels=True).stream(0).surface
    assert len(surface.before.lengthscale.unique()) == len(surface.after.lengthscale.unique()) == 1


def test_a_batch_is_the_end_of_its_stream_and_a_pure_function_of_its_step() -> None:
    task, last = SMALL.batch(7), SMALL.stream(7).at(12)
    assert torch.equal(task.yt, last.yt) and torch.equal(task.yc, last.yc)
    assert torch.equal(SMALL.batch(7).yc, task.yc) and not torch.equal(SMALL.batch(8).yc, task.yc)


def test_a_prefix_keeps_the_step_its_targets_are_asked_at() -> None:
    stream = SMALL.stream(1)
    task = stream.at(12).prefix(4)
    assert torch.isfinite(task.truth.joint_log_prob(task)).all()
    earlier = stream.at(4)
    assert not torch.allclose(task.truth.posterior(task)[0], earlier.truth.posterior(earlier)[0])


def test_a_permuted_context_is_refused() -> None:
    task = SMALL.batch(0)
    shuffled = task.permute(generator(0))
    with pytest.raises(DataError, match="do not permute"):
        shuffled.truth.factorised_log_prob(shuffled)


def test_an_abrupt_shift_costs_more_than_a_gentle_one() -> None:
    """The drop of the optimum between the last step before the shift and the first after it."""

    def drop(temperature: float) -> float:
        source = ShiftTasks(batch_size=200, temperature=temperature, context=(22, 22), targets=32)
        optimum = source.stream(0).factorised_log_prob().mean(dim=(0, 2))
        return float(optimum[19] - optimum[21])

    assert drop(0.0) > drop(5.0) + 0.5


@pytest.mark.parametrize("step", [-1, 13])
def test_a_step_outside_the_stream_is_refused(step: int) -> None:
    with pytest.raises(ConfigError, match="between 0 and the 12 points"):
        SMALL.stream(0).at(step)


@pytest.mark.parametrize(
    "settings",
    [
        {"families": ("cubic",)},
        {"families": ()},
        {"temperature": -1.0},
        {"temperature": float("inf")},
        {"context": (0, 4)},
        {"targets": 0},
        {"noise": 0.0},
        {"lengthscales": (0.0, 1.0)},
    ],
)
def test_contradictory_settings_are_refused(settings: dict) -> None:
    with pytest.raises(ConfigError):
        ShiftTasks(**settings)


def test_marginals_match_a_stationary_source_before_the_shift() -> None:
    """Same kernels, same sizes: the optimum of a shift that never comes is that of the stationary source."""
    never = ShiftTasks(batch_size=600, context=(20, 20), targets=16, centre=1e6)
    plain = GPTasks(batch_size=600, context=(20, 20), targets=16, shared_kernel=False)
    means = [task.truth.factorised_log_prob(task).mean(dim=1) for task in (never.batch(0), plain.batch(0))]
    assert stats.ttest_ind(*means).pvalue > 1e-3
