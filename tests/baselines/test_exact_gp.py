import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

from inctnp.baselines.covariance import ARDKernel
from inctnp.baselines.exact_gp import ExactGP, GPContext, fit_gp
from inctnp.errors import ConfigError, ShapeError
from inctnp.generators.gp import GPTasks
from inctnp.generators.kernels import MIXED
from inctnp.task import Task

MANY = GPTasks(families=MIXED, batch_size=6, context=(7, 7), targets=5, shared_kernel=False, seed=4)


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def of(task: Task) -> tuple[ExactGP, GPContext]:
    gp = ExactGP(kernel=task.truth.kernel, noise=task.truth.noise)
    return gp, gp.extend(gp.empty(task.batch), task.xc, task.yc)


@pytest.mark.parametrize("step", range(4))
def test_it_is_the_truth_of_its_tasks(step: int) -> None:
    task = MANY.batch(step)
    gp, context = of(task)
    marginal = gp.query(context, task.xt).log_prob(task.yt.double()).squeeze(-1)
    np.testing.assert_allclose(marginal, task.truth.factorised_log_prob(task), rtol=1e-7, atol=1e-7)
    joint = gp.joint_log_prob(context, task.xt, task.yt)
    np.testing.assert_allclose(joint, task.truth.joint_log_prob(task), rtol=1e-7, atol=1e-7)


def brute_force(kernel: ARDKernel, x: np.ndarray, y: np.ndarray, xt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Conditioning by the textbook, on scikit-learn's covariance."""
    k = kernels.RBF(kernel.lengthscale.tolist())
    variance, noise = kernel.variance.item(), 0.2**2
    inverse = np.linalg.inv(variance * k(x) + noise * np.eye(len(x)))
    cross = variance * k(xt, x)
    return cross @ inverse @ y, variance * k(xt) + noise * np.eye(len(xt)) - cross @ inverse @ cross.T


def test_joint_density_and_draws_are_scipys_multivariate_normal() -> None:
    kernel = ARDKernel("rbf", torch.tensor([0.7, 1.4]).double(), torch.tensor(2.0).double())
    gp = ExactGP(kernel=kernel, noise=0.2, dim_x=2)
    x, y, xt = (torch.randn(n, d, generator=rng(n)).double() for n, d in ((6, 2), (6, 1), (3, 2)))
    context = gp.extend(gp.empty(), x, y)
    mean, cov = brute_force(kernel, x.numpy(), y.numpy(), xt.numpy())
    law = stats.multivariate_normal(mean[:, 0], cov)
    yt = torch.randn(3, 1, generator=rng(9)).double()
    np.testing.assert_allclose(gp.joint_log_prob(context, xt, yt), law.logpdf(yt[:, 0]), rtol=1e-9)
    joint = gp.joint_sample(context, xt, 20_000, generator=rng(1))
    draws = joint.draws[..., 0].numpy()
    np.testing.assert_allclose(draws.mean(axis=0), mean[:, 0], atol=5 * np.sqrt(np.diag(cov).max() / 20_000))
    np.testing.assert_allclose(np.cov(draws.T), cov, atol=0.05)
    np.testing.assert_allclose(joint.stddev[:, 0], np.sqrt(np.diag(cov)), rtol=1e-9)


def test_conditionals_are_predictions_from_everything_before() -> None:
    task = MANY.batch(0)
    gp, context = of(task)
    together = gp.conditionals(context, task.xt, task.yt)
    for i in range(5):
        before = gp.extend(context, task.xt[:, :i], task.yt[:, :i])
        alone = gp.query(before, task.xt[:, i : i + 1])
        np.testing.assert_allclose(together.mean[:, i : i + 1], alone.mean, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(together.stddev[:, i : i + 1], alone.stddev, rtol=1e-7)


def test_rows_appended_in_any_chunks_give_one_factor() -> None:
    task = MANY.batch(1)
    gp, at_once = of(task)
    context = gp.empty(task.batch)
    for rows in (slice(0, 1), slice(1, 5), slice(5, 5), slice(5, 7)):
        context = gp.extend(context, task.xc[:, rows], task.yc[:, rows])
    np.testing.assert_allclose(context.root, at_once.root, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(context.white, at_once.white, rtol=1e-6, atol=1e-7)
    x = task.xc.double()
    covariance = task.truth.kernel(x, x) + task.truth.noise**2 * torch.eye(7).double()
    np.testing.assert_allclose(at_once.root @ at_once.root.mT, covariance, atol=1e-10)


def test_going_back_is_exact_and_nothing_given_is_changed() -> None:
    task = MANY.batch(2)
    gp, context = of(task)
    before = context.root.clone()
    longer = gp.extend(context, task.xt, task.yt)
    assert len(longer) == 12 and torch.equal(context.root, before)
    assert torch.equal(longer.truncate(7).white, context.white)
    assert longer.nbytes == 8 * 6 * (12 + 12 * 12 + 12)


def test_an_empty_context_is_the_prior() -> None:
    gp = ExactGP(kernel=ARDKernel("rbf", torch.ones(1), torch.tensor(3.0)), noise=1.0)
    prior = gp.query(gp.empty(), torch.randn(4, 1))
    np.testing.assert_allclose(prior.variance, 4.0)
    np.testing.assert_array_equal(prior.mean, 0.0)


def test_outputs_are_independent_and_share_the_kernel() -> None:
    x, y, xt = torch.rand(5, 1), torch.randn(5, 2), torch.rand(3, 1)
    kernel = ARDKernel("matern32", torch.ones(1), torch.tensor(1.0))
    both = ExactGP(kernel=kernel, noise=0.3, dim_y=2)
    one = ExactGP(kernel=kernel, noise=0.3)
    p = both.query(both.extend(both.empty(), x, y), xt)
    for d in range(2):
        alone = one.query(one.extend(one.empty(), x, y[:, d : d + 1]), xt)
        torch.testing.assert_close(p.mean[:, d : d + 1], alone.mean)
        torch.testing.assert_close(p.stddev[:, d : d + 1], alone.stddev)


def test_fitting_finds_the_likelihood_scikit_learn_finds() -> None:
    x = torch.rand(40, 1, generator=rng()).double() * 4 - 2
    y = torch.sin(3 * x) + 0.1 * torch.randn(40, 1, generator=rng(1)).double()
    gp = fit_gp(x, y, steps=500)
    ours = gp.joint_log_prob(gp.empty(), x, y).item()
    kernel = kernels.ConstantKernel() * kernels.RBF() + kernels.WhiteKernel(0.1)
    theirs = GaussianProcessRegressor(kernel).fit(x.numpy(), y.numpy()).log_marginal_likelihood_value_
    assert ours == pytest.approx(theirs, abs=0.05)


def test_tasks_of_a_batch_are_fitted_apart() -> None:
    x = torch.rand(2, 15, 1, generator=rng()).double()
    y = torch.stack([torch.sin(9 * x[0]), x[1]])
    together = fit_gp(x, y, steps=20)
    alone = fit_gp(x[1], y[1], steps=20)
    np.testing.assert_allclose(together.kernel.lengthscale[1], alone.kernel.lengthscale, rtol=1e-8)
    np.testing.assert_allclose(together.noise[1], alone.noise, rtol=1e-8)


def test_what_does_not_fit_is_refused() -> None:
    gp = ExactGP(kernel=ARDKernel("rbf", torch.ones(1), torch.tensor(1.0)), noise=0.1)
    with pytest.raises(ShapeError, match=r"\[points, 1\]"):
        gp.query(gp.empty(), torch.zeros(3, 2))
    with pytest.raises(ConfigError):
        fit_gp(torch.zeros(0, 1), torch.zeros(0, 1))
