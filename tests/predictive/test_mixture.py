"""Mixtures against weighted sums of scipy's normals."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, optimize, stats

from inctnp.errors import ConfigError
from inctnp.predictive.gaussian import Gaussian
from inctnp.predictive.mixture import Mixture, mixture_of, mixture_over_first_axis

WEIGHTS, MEANS, STDS = np.array([0.2, 0.5, 0.3]), np.array([-2.0, 0.5, 4.0]), np.array([0.3, 1.0, 2.0])


def column(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(values).view(-1, 1)


P = Mixture(column(np.log(WEIGHTS)), column(MEANS), column(STDS))


def cdf(y: float) -> float:
    return float(WEIGHTS @ stats.norm(MEANS, STDS).cdf(y))


def at(y: float) -> torch.Tensor:
    return torch.tensor([y], dtype=torch.float64)


@pytest.mark.parametrize("y", [-3.0, 0.0, 5.5])
def test_density_and_cdf_are_weighted_sums(y: float) -> None:
    assert P.cdf(at(y)).item() == pytest.approx(cdf(y), abs=1e-12)
    density = WEIGHTS @ stats.norm(MEANS, STDS).pdf(y)
    assert P.log_prob(at(y)).item() == pytest.approx(math.log(density), abs=1e-12)


def test_moments_are_those_of_the_density() -> None:
    def density(z: float) -> float:
        return float(WEIGHTS @ stats.norm(MEANS, STDS).pdf(z))

    mean = integrate.quad(lambda z: z * density(z), -30, 30, limit=200)[0]
    variance = integrate.quad(lambda z: (z - mean) ** 2 * density(z), -30, 30, limit=200)[0]
    assert P.mean.item() == pytest.approx(mean, abs=1e-7)
    assert P.variance.item() == pytest.approx(variance, abs=1e-6)
    assert P.stddev.item() == pytest.approx(math.sqrt(variance), abs=1e-6)


@pytest.mark.parametrize("level", [1e-4, 0.05, 0.5, 0.77, 0.999])
def test_the_quantile_is_the_root_of_the_cdf(level: float) -> None:
    root = optimize.brentq(lambda z: cdf(z) - level, -30, 30, xtol=1e-13)
    assert P.quantile(level).item() == pytest.approx(root, abs=1e-9)


@pytest.mark.parametrize("y", [-2.5, 1.0, 9.0])
def test_crps_is_the_integral_of_the_squared_distance_of_distribution_functions(y: float) -> None:
    below = integrate.quad(lambda z: cdf(z) ** 2, -15, y, limit=300)[0]
    above = integrate.quad(lambda z: (1 - cdf(z)) ** 2, y, 30, limit=300)[0]
    assert P.crps(at(y)).item() == pytest.approx(below + above, abs=1e-6)


def test_draws_follow_the_cdf_and_outputs_choose_their_parts_independently() -> None:
    many = P.reshape(lambda t: t.expand(40_000, 2))
    draws = many.sample(torch.Generator().manual_seed(0))
    assert (
        stats.kstest(draws[:5000, 0].numpy(), lambda z: stats.norm(MEANS, STDS).cdf(z[:, None]) @ WEIGHTS).pvalue > 1e-3
    )
    assert abs(np.corrcoef(draws.T.numpy())[0, 1]) < 0.02
    assert draws.mean().item() == pytest.approx(P.mean.item(), abs=0.03)
    assert draws.std().item() == pytest.approx(P.stddev.item(), abs=0.03)


def test_a_variance_does_not_cancel_far_from_zero() -> None:
    far = P.affine(shift=1e9, scale=1.0)
    assert far.variance.item() == pytest.approx(P.variance.item(), rel=1e-6)


def test_affine_changes_the_density_by_the_scale() -> None:
    moved = P.affine(shift=-1.0, scale=2.0)
    assert moved.log_prob(at(3.0)).item() == pytest.approx(P.log_prob(at(2.0)).item() - math.log(2), abs=1e-12)


def test_an_equal_mixture_of_predictives_averages_their_densities() -> None:
    parts = [Gaussian(at(0.0), at(1.0)), P, Gaussian(at(2.0), at(0.5))]
    densities = [part.log_prob(at(1.3)).exp().item() for part in parts]
    assert mixture_of(parts).log_prob(at(1.3)).exp().item() == pytest.approx(np.mean(densities), abs=1e-12)


def test_a_mixture_over_draws_averages_over_the_first_axis() -> None:
    draws = Gaussian(torch.randn(5, 4, 1).double(), torch.rand(5, 4, 1).double() + 0.1)
    y = torch.randn(4, 1).double()
    expected = draws.log_prob(y.expand(5, 4, 1)).exp().mean(dim=0).log()
    torch.testing.assert_close(mixture_over_first_axis(draws).log_prob(y), expected, rtol=0, atol=1e-12)


def test_quantiles_of_unequal_levels_are_refused_outside_of_zero_and_one() -> None:
    with pytest.raises(ConfigError, match="between 0 and 1"):
        P.quantile(1.5)
    assert P.quantile(0.0).item() == -math.inf and P.quantile(1.0).item() == math.inf
