import numpy as np
import pytest

from inctnp.errors import ConfigError
from inctnp.metrics.growth import cumulative, fitted_exponent, growth_exponent, polynomial_degree


def test_adding_up_a_straight_line_is_exact() -> None:
    steps = [3.0 * n + 5 for n in range(1, 41)]
    totals = cumulative([1, 10, 40], [steps[0], steps[9], steps[39]])
    np.testing.assert_allclose(totals, [steps[0], sum(steps[:10]), sum(steps)])


def test_what_is_no_polynomial_has_no_degree() -> None:
    assert polynomial_degree([1, 2, 5], [4, 4, 4]) == 0
    with pytest.raises(ConfigError):
        polynomial_degree([1, 2, 3, 4], [2**n for n in (1, 2, 3, 4)])
    with pytest.raises(ConfigError):
        polynomial_degree([1, 1], [2, 2])


@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
def test_exponents_of_power_laws_are_found(power: float) -> None:
    points = [100, 200, 400, 900]
    assert fitted_exponent(points, [7 * n**power for n in points]) == pytest.approx(power, rel=1e-9)
    doubling = [100, 200, 400, 800]
    assert growth_exponent(doubling, [1e5 + 7 * n**power for n in doubling]) == pytest.approx(power, abs=1e-4)


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(ConfigError):
        fitted_exponent([10], [1.0])
    with pytest.raises(ConfigError):
        fitted_exponent([10, 20], [1.0, 0.0])
    with pytest.raises(ConfigError):
        growth_exponent([10, 20], [1.0, 2.0])
