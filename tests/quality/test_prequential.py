import math

import numpy as np
import pytest
from scipy.stats import norm

from inctnp.errors import DataError
from inctnp.predictive.plain import PlainMixture
from inctnp.quality.prequential import LEAST_LOG_SCORE, UNSCORED, measure
from inctnp.regressor.columns import Row


class Fixed:
    """Always says the same, and notes the order of what it is told."""

    def __init__(self, deviation: float) -> None:
        self.deviation = deviation
        self.heard: list[object] = []

    def ask(self, row: Row) -> PlainMixture:
        self.heard.append(row["x"])
        return PlainMixture((1.0,), (2.0,), (self.deviation,))

    def tell(self, y: float) -> None:
        self.heard.append(y)


def test_scores_are_those_of_the_definitions_in_units_of_the_outcomes() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(2.5, 3.0, size=200)
    contestant = Fixed(3.0)
    measured = measure(contestant, [({"x": i}, value) for i, value in enumerate(y.tolist())])
    assert contestant.heard[:4] == [0, y[0], 1, y[1]]
    scored, unit = y[UNSCORED:], y.std()
    z = (scored - 2.0) / 3.0
    crps = 3.0 * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / math.sqrt(math.pi))
    assert measured.rows == len(scored)
    assert measured.log_score == pytest.approx(norm.logpdf(scored, 2.0, 3.0).mean() + math.log(unit))
    assert measured.crps == pytest.approx(crps.mean() / unit)
    assert measured.rmse == pytest.approx(np.sqrt(((scored - 2.0) ** 2).mean()) / unit)
    assert measured.coverage == pytest.approx((np.abs(z) <= norm.ppf(0.95)).mean())
    assert measured.microseconds > 0


def test_one_impossible_outcome_does_not_hide_all_others() -> None:
    assert measure(Fixed(1e-6), [({"x": i}, 0.0) for i in range(30)]).log_score == LEAST_LOG_SCORE
    with pytest.raises(DataError, match="more than"):
        measure(Fixed(1.0), [({"x": 0}, 0.0)] * UNSCORED)
