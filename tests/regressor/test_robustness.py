"""Whatever people feed it: finite predictions that know nothing of later rows and nothing of the order of columns."""

import math
from typing import Any

import numpy as np
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from inctnp.models.base import NeuralProcess
from inctnp.predictive.base import Predictive
from inctnp.regressor import StreamingRegressor

QUICKLY: Any = {
    "deadline": None,
    "phases": (Phase.explicit, Phase.generate),
    "suppress_health_check": [HealthCheck.too_slow],
}
numbers = st.one_of(
    st.none(), st.floats(allow_nan=True, allow_infinity=True), st.integers(-(10**15), 10**15), st.booleans()
)
texts = st.one_of(st.none(), st.sampled_from("abc"), st.text(max_size=3))
moments = st.one_of(st.none(), st.datetimes())
COLUMNS = {"x": numbers, "y": numbers, "constant": st.just(1.0), "text": texts, "at": moments, "mixed": numbers | texts}


@st.composite
def tables(draw: Any) -> list[dict[str, Any]]:
    """Rows whose columns come and go."""
    parts = st.fixed_dictionaries({}, optional=COLUMNS)
    return draw(st.lists(parts, min_size=3, max_size=9))


outcomes = st.lists(
    st.one_of(st.just(7.0), st.floats(-1.0, 1.0), st.floats(-1e12, 1e12), st.just(1e-12)), min_size=14, max_size=14
)


def scores(p: Predictive, y: float) -> list[float]:
    return [p.mean.item(), p.stddev.item(), p.log_prob(torch.tensor([[y]], dtype=torch.float64)).item()]


def is_sound(p: Predictive, y: float) -> bool:
    low, middle, high = (p.quantile(level).item() for level in (0.05, 0.5, 0.95))
    return all(map(math.isfinite, scores(p, y))) and low <= middle <= high and p.stddev.item() > 0


@given(table=tables(), y=outcomes, recalibration=st.sampled_from(["none", "temperature", "conformal"]))
@settings(max_examples=8, **QUICKLY)
def test_every_prediction_is_finite(
    table: list[dict[str, Any]], y: list[float], recalibration: str, model: NeuralProcess
) -> None:
    r = StreamingRegressor(model, lags=(1, 2), recency=True, recalibration=recalibration)
    for row, outcome in zip(table, y, strict=False):
        assert is_sound(r.step(row, outcome), outcome)
    assert math.isfinite(r.monitor.scores.crps)


@given(table=tables(), y=outcomes)
@settings(max_examples=4, **QUICKLY)
def test_rows_that_are_only_known_change_no_prediction(
    table: list[dict[str, Any]], y: list[float], model: NeuralProcess
) -> None:
    one, other = StreamingRegressor(model), StreamingRegressor(model)
    for i, outcome in enumerate(y[: len(table)]):
        other.predict(table[i:])
        assert torch.equal(one.step(table[i], outcome).mean, other.step(table[i], outcome).mean)
    assert one.columns == other.columns and one.monitor == other.monitor


@given(table=tables(), y=outcomes, random=st.randoms())
@settings(max_examples=4, **QUICKLY)
def test_the_order_of_columns_never_matters(
    table: list[dict[str, Any]], y: list[float], random: Any, model: NeuralProcess
) -> None:
    one, other = StreamingRegressor(model), StreamingRegressor(model)
    for row, outcome in zip(table, y, strict=False):
        shuffled = dict(random.sample(list(row.items()), len(row)))
        ours, theirs = one.step(row, outcome), other.step(shuffled, outcome)
        assert np.allclose(scores(ours, outcome), scores(theirs, outcome), rtol=1e-6, atol=1e-6 * max(1, abs(outcome)))


def test_more_columns_than_inputs_and_endless_texts_are_no_trouble(model: NeuralProcess) -> None:
    """Thirty columns for eight inputs, one that tells, one that is a new text in every row."""
    rng = np.random.default_rng(0)
    r = StreamingRegressor(model, groups=2)
    for i in range(60):
        x = rng.normal(size=30)
        row = {**{f"x{j}": value for j, value in enumerate(x.tolist())}, "name": f"row {i}"}
        assert is_sound(r.step(row, float(3 * x[7])), float(3 * x[7]))
    correlation = np.corrcoef([(r.predict([{"x7": v}]).mean.item(), v) for v in (-2.0, -1.0, 1.0, 2.0)], rowvar=False)
    assert correlation[0, 1] > 0.9
