import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inctnp.models.base import NeuralProcess
from inctnp.predictive.plain import PlainMixture
from inctnp.regressor import StreamingRegressor
from inctnp.regressor.recalibration import CORRECTIONS, Conformal, Correction, Temperature
from tests.regressor.conftest import make_stream

RNG = np.random.default_rng(0)
WRONG = {
    "too narrow": RNG.normal(0.0, 2.0, 1200),
    "too wide": RNG.normal(0.0, 0.5, 1200),
    "skewed": 1.5 * RNG.exponential(1.0, 1200) - 0.5,
    "heavy tailed": RNG.standard_cauchy(1200),
}


def coverage(correction: Correction, outcomes: np.ndarray, level: float = 0.9) -> float:
    """Of intervals, each made before its outcome was told; the model always expects a standard normal."""
    base, inside = PlainMixture([0.5, 0.5], [0.0, 0.0], [1.0, 1.0]), []
    for y in outcomes.tolist():
        corrected = correction.of(base)
        inside.append(corrected.quantile((1 - level) / 2) <= y <= corrected.quantile((1 + level) / 2))
        correction.learn(base, y)
    return float(np.mean(inside[300:]))


def test_a_temperature_finds_the_factor_by_which_predictions_are_too_narrow() -> None:
    correction = Temperature()
    for y in WRONG["too narrow"].tolist():
        correction.learn(PlainMixture([1.0], [0.0], [1.0]), y)
    corrected = correction.of(PlainMixture([1.0], [3.0], [1.0]))
    assert correction.factor == pytest.approx(2.0, rel=0.15)
    assert corrected.mean == 3.0 and math.sqrt(corrected.variance) == pytest.approx(correction.factor)


def test_nothing_is_corrected_before_anything_is_known() -> None:
    base = PlainMixture([0.3, 0.7], [1.0, 2.0], [0.5, 0.1])
    assert Conformal().of(base) == base and Temperature().of(base).quantile(0.9) == pytest.approx(base.quantile(0.9))


@pytest.mark.parametrize(
    ("name", "case"),
    [("temperature", "too narrow"), ("temperature", "too wide"), *(("conformal", case) for case in WRONG)],
)
def test_intervals_hold_what_they_say_after_a_correction(name: str, case: str) -> None:
    """Within two standard errors of 900 rows, and as far again for what a moving window does not know."""
    assert abs(coverage(CORRECTIONS[name](), WRONG[case]) - 0.9) < 0.04
    assert abs(coverage(CORRECTIONS["none"](), WRONG[case]) - 0.9) > 0.06


def test_both_tails_of_a_skewed_outcome_are_met() -> None:
    base, correction, below = PlainMixture([1.0], [0.0], [1.0]), Conformal(), []
    for y in WRONG["skewed"].tolist():
        below.append([correction.of(base).cdf(y) < level for level in (0.1, 0.5, 0.9)])
        correction.learn(base, y)
    assert np.abs(np.mean(below[300:], axis=0) - (0.1, 0.5, 0.9)).max() < 0.035


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.floats(-1e6, 1e6), st.floats(1e-6, 1e4)), min_size=1, max_size=6),
    st.lists(st.floats(-1e7, 1e7), min_size=1, max_size=40),
)
@settings(max_examples=15, deadline=None)
def test_a_correction_gives_one_distribution_whatever_came(
    parts: list[tuple[float, float, float]], outcomes: list[float]
) -> None:
    weights, means, stddevs = (list(each) for each in zip(*parts, strict=True))
    base = PlainMixture([w / sum(weights) for w in weights], means, stddevs)
    for kind in CORRECTIONS.values():
        correction = kind()
        for y in outcomes:
            correction.learn(base, y)
        corrected = correction.of(base)
        assert sum(corrected.weights) == pytest.approx(1.0) and min(corrected.stddevs) > 0
        quantiles = [corrected.quantile(level) for level in (0.05, 0.5, 0.95)]
        assert quantiles == sorted(quantiles)
        assert all(math.isfinite(corrected.log_prob(y)) and math.isfinite(corrected.crps(y)) for y in outcomes)


def covered(r: StreamingRegressor, rows: int) -> float:
    """After a while."""
    table, y = make_stream(rows)
    inside = []
    for row, outcome in zip(table, y, strict=True):
        low, high = r.step(row, outcome).interval(0.9)
        inside.append(low.item() <= outcome <= high.item())
    return float(np.mean(inside[60:]))


def test_a_network_that_was_never_trained_is_corrected_along_the_stream(model: NeuralProcess) -> None:
    choices = {"blend": False, "max_points": 128, "normalisation": "calibrated", "calibration_rows": 20}
    assert covered(StreamingRegressor(model, **choices), 150) < 0.5
    assert abs(covered(StreamingRegressor(model, recalibration="conformal", **choices), 150) - 0.9) < 0.07
