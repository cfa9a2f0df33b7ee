import math

import numpy as np
import pytest
import torch
from scipy import stats

from inctnp.baselines.exact_gp import ExactGP
from inctnp.errors import ConfigError, DataError
from inctnp.generators.gp import GPTasks
from inctnp.metrics.calibration import calibration, interval_coverage, outcomes, pit_uniformity, pit_values
from inctnp.predictive.gaussian import Gaussian
from inctnp.predictive.mixture import Mixture
from tests.metrics.conftest import rng


def sharpness(claimed: float, true: float, count: int = 20_000) -> tuple[Gaussian, torch.Tensor]:
    """Outcomes of one deviation, predicted with another."""
    mean = torch.linspace(-3, 3, count).double().unsqueeze(-1)
    y = mean + true * torch.randn(count, 1, generator=rng(), dtype=torch.float64)
    return Gaussian(mean, torch.full_like(mean, claimed)), y


@pytest.mark.parametrize(("claimed", "true"), [(1.0, 1.0), (0.5, 1.0), (3.0, 1.5)])
def test_known_gaussians_have_known_coverage_width_crps_and_rmse(claimed: float, true: float) -> None:
    result = calibration([sharpness(claimed, true)])
    for row in result.coverage:
        z = stats.norm.ppf(0.5 + row.level / 2)
        assert row.width == pytest.approx(2 * z * claimed, rel=1e-9)
        assert row.coverage == pytest.approx(2 * stats.norm.cdf(z * claimed / true) - 1, abs=0.012)
    assert result.rmse == pytest.approx(true, rel=0.02)
    # E CRPS of N(0, c²) for outcomes N(0, t²): sqrt((c² + t²) 2/pi) - c / sqrt(pi).
    expected = math.sqrt((claimed**2 + true**2) * 2 / math.pi) - claimed / math.sqrt(math.pi)
    assert result.crps == pytest.approx(expected, rel=0.02)
    grid = np.linspace(0.001, 0.999, 999)
    shape = stats.norm.cdf(stats.norm.ppf(grid) * claimed / true)
    assert result.pit.distance == pytest.approx(np.abs(shape - grid).max(), abs=0.012)


def test_the_pit_distance_is_that_of_kolmogorov_and_smirnov() -> None:
    values = torch.rand(57, generator=rng(2)).double() ** 1.5
    assert pit_uniformity(values).distance == pytest.approx(
        stats.kstest(values.numpy(), "uniform").statistic, rel=1e-12
    )
    shares = np.histogram(values.numpy(), bins=10, range=(0, 1))[0] / 57
    np.testing.assert_allclose(pit_uniformity(values).histogram, shares, rtol=1e-6)


def test_overconfidence_is_a_u_and_its_opposite_a_hump() -> None:
    u, hump = (calibration([sharpness(claimed, 1.0)]).pit.histogram for claimed in (0.4, 2.5))
    assert u[0] + u[-1] > 0.4 > 0.1 > hump[0] + hump[-1]


def test_pit_values_of_a_mixture_are_its_distribution_function() -> None:
    weights, means = torch.tensor([[0.3], [0.7]], dtype=torch.float64), torch.tensor([[-1.0], [2.0]]).double()
    mixture = Mixture(weights.log(), means, torch.ones_like(means))
    expected = 0.3 * stats.norm.cdf(0.5 + 1) + 0.7 * stats.norm.cdf(0.5 - 2)
    assert pit_values(mixture, torch.tensor([0.5]).double()).item() == pytest.approx(expected, rel=1e-12)


def test_the_true_process_is_calibrated() -> None:
    tasks = [
        GPTasks(batch_size=16, context=(5, 5), targets=10, seed=s, shared_kernel=False).batch(0) for s in range(40)
    ]
    pairs = [next(outcomes(ExactGP(kernel=t.truth.kernel, noise=t.truth.noise), [t])) for t in tasks]
    result = calibration(pairs)
    assert result.outcomes == 6400
    for row in result.coverage:
        assert row.coverage == pytest.approx(row.level, abs=0.03)
    assert result.pit.distance < 0.04


def test_batches_of_different_sizes_count_by_outcome() -> None:
    predictive, y = sharpness(1.0, 1.0, count=90)
    cut = [(predictive.reshape(lambda t, a=a, b=b: t[a:b]), y[a:b]) for a, b in ((0, 10), (10, 90))]
    whole, parts = calibration([(predictive, y)]), calibration(cut)
    assert parts.outcomes == 90
    assert parts.crps == pytest.approx(whole.crps, rel=1e-12)
    assert parts.rmse == pytest.approx(whole.rmse, rel=1e-12)
    assert parts.coverage[0].coverage == pytest.approx(whole.coverage[0].coverage, rel=1e-12)


def test_nothing_and_impossible_levels_are_refused() -> None:
    with pytest.raises(DataError):
        calibration([])
    with pytest.raises(ConfigError, match="level"):
        interval_coverage(*sharpness(1.0, 1.0, count=3), 1.0)
