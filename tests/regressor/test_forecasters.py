"""The simple forecasters beside the network: their distributions hold what comes, jumps included."""

import math

import numpy as np
import pytest

from inctnp.predictive.plain import PlainMixture
from inctnp.regressor.forecasters import Forecasters
from inctnp.regressor.spread import Spread

NOTHING = np.zeros(0)
NO_FLAGS = np.zeros(0, dtype=bool)


def follow(outcomes: list[float]) -> tuple[Forecasters, list[PlainMixture]]:
    """All forecasters after these outcomes, and what they say next."""
    forecasters = Forecasters()
    for y in outcomes:
        forecasters.learn(NOTHING, forecasters.opinion(NOTHING, NO_FLAGS), y)
    answers = forecasters.answers(forecasters.opinion(NOTHING, NO_FLAGS))
    return forecasters, [PlainMixture(*answer) for answer in answers if answer]


def test_a_jump_costs_a_forecaster_that_was_nearly_sure_a_few_nats_and_not_its_life() -> None:
    rng = np.random.default_rng(0)
    level = np.repeat([0.0, 50.0, 0.0, 50.0], 60)
    forecasters, (_, last, _) = follow((level + 0.01 * rng.normal(size=240)).tolist())
    assert forecasters.last_spread.scale(forecasters.unit) < 1.0
    assert last.log_prob(0.0) > -20
    assert last.log_prob(50.0) > 0


def test_an_unsure_forecast_lies_where_the_stream_is_if_the_stream_stays_where_it_is() -> None:
    walk = np.cumsum(np.random.default_rng(0).normal(size=300))
    _, (_, _, unsure) = follow(walk.tolist())
    assert unsure.mean == walk[-1]
    noise = np.random.default_rng(0).normal(10.0, 1.0, size=300)
    _, (_, _, unsure) = follow(noise.tolist())
    assert unsure.mean == pytest.approx(noise.mean())


@pytest.mark.parametrize("draw", ["normal", "standard_cauchy"])
def test_a_spread_learns_the_scale_and_the_shape_of_errors(draw: str) -> None:
    errors = getattr(np.random.default_rng(0), draw)(size=4000)
    spread = Spread()
    inside = 0
    for error in errors[:2000].tolist():
        spread.learn(error, 1.0)
    for error in errors[2000:].tolist():
        weights, stddevs = spread.parts(1.0)
        inside += 0.05 < PlainMixture(weights, [0.0] * len(weights), stddevs).cdf(error) < 0.95
        assert math.isclose(sum(weights), 1.0)
        spread.learn(error, 1.0)
    assert inside / 2000 == pytest.approx(0.9, abs=0.03)
