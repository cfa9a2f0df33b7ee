import datetime as dt
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
from river import checks, compose, datasets, drift, evaluate, metrics, preprocessing

from inctnp.adapters.river import IncTNPRegressor
from inctnp.errors import ConfigError
from inctnp.pretrained.registry import load
from inctnp.regressor import RegressorSettings, StreamingRegressor
from tests.adapters.conftest import FOLDER
from tests.regressor.conftest import make_stream


class Toy(IncTNPRegressor):
    """The same class with a tiny model as its default: one check makes regressors without any choice."""

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": FOLDER}


CHECKS = list(checks.yield_checks(Toy(FOLDER)))


LONG = ("check_bounded_memory_growth",)
"""A thousand rows: half a minute while shapes are checked."""


@pytest.mark.parametrize(
    "check",
    [pytest.param(each, id=each.__name__, marks=[pytest.mark.slow] * (each.__name__ in LONG)) for each in CHECKS],
)
def test_it_is_a_river_regressor(check: Callable[[object], None]) -> None:
    check(Toy(FOLDER))


def test_predictions_are_those_of_the_streaming_regressor() -> None:
    rows, y = make_stream(40)
    model, regressor = IncTNPRegressor(FOLDER), StreamingRegressor(load(FOLDER))
    for row, outcome in zip(rows, y, strict=True):
        expected = regressor.step(row, outcome)
        assert model.predict_one(row) == pytest.approx(expected.mean.item())
        distribution = model.predict_one(row, with_dist=True)
        assert distribution.variance**0.5 == pytest.approx(expected.stddev.item())
        model.learn_one(row, outcome)
    interval = model.predict_one(rows[0], with_interval=0.8)
    low, high = regressor.predict(rows[:1]).interval(0.8)
    assert (interval.lower, interval.upper) == (pytest.approx(low.item()), pytest.approx(high.item()))
    assert model.predict_one(rows[0], with_interval=True).width > interval.width


def test_every_setting_of_the_regressor_is_a_parameter() -> None:
    params = IncTNPRegressor(FOLDER)._get_params()
    assert set(params) == {*RegressorSettings.__dataclass_fields__, "remember"}
    assert params["lags"] == RegressorSettings().lags


def hourly(rows: int) -> list[tuple[dict[str, Any], float]]:
    table, y = make_stream(rows)
    start = dt.datetime(2024, 1, 1)
    return [
        ({"speed": row["speed"], "at": start + dt.timedelta(hours=i)}, outcome)
        for i, (row, outcome) in enumerate(zip(table, y, strict=True))
    ]


def test_late_labels_are_learned_with_what_was_known_when_the_row_was_predicted() -> None:
    stream, delay = hourly(40), 3
    model = IncTNPRegressor(FOLDER)
    score = evaluate.progressive_val_score(stream, model, metrics.MAE(), moment="at", delay=dt.timedelta(hours=delay))
    regressor, expected, tickets = StreamingRegressor(load(FOLDER)), metrics.MAE(), []
    for i, (row, _) in enumerate(stream):
        # River answers before it asks at the same moment.
        if i >= delay:
            regressor.tell(tickets[i - delay], stream[i - delay][1])
        tickets.append(regressor.ask(row))
        expected.update(stream[i][1], regressor.asked(tickets[i]).mean.item())
    for i in range(len(stream) - delay, len(stream)):
        regressor.tell(tickets[i], stream[i][1])
    assert score.get() == pytest.approx(expected.get())
    asked = [{"speed": 50.0, "at": dt.datetime(2024, 2, 1)}]
    assert model.regressor.predict(asked).mean.item() == pytest.approx(regressor.predict(asked).mean.item())


def test_no_more_predictions_are_kept_than_chosen() -> None:
    model = IncTNPRegressor(FOLDER, remember=2)
    for speed in (1.0, 2.0, 3.0, 3.0):
        model.predict_one({"speed": speed})
    assert len(model.regressor.state()["asked"]) == 2
    model.learn_one({"speed": 3.0}, 1.0)
    model.learn_one({"speed": 1.0}, 2.0)
    assert len(model.regressor.state()["asked"]) == 1 and len(model.regressor) == 2
    with pytest.raises(ConfigError, match="remember"):
        IncTNPRegressor(FOLDER, remember=-1)


def test_many_rows_are_learned_and_predicted_as_frames() -> None:
    rows, y = make_stream(30)
    frame = pd.DataFrame(rows, index=range(100, 130))
    many, one = IncTNPRegressor(FOLDER), IncTNPRegressor(FOLDER)
    many.learn_many(frame, pd.Series(y))
    for row, outcome in zip(rows, y, strict=True):
        one.learn_one(row, outcome)
    predicted = many.predict_many(frame)
    assert list(predicted.index) == list(frame.index)
    assert predicted.tolist() == pytest.approx([one.predict_one(row) for row in rows], rel=1e-4)


def test_it_works_in_pipelines_and_with_drift_detectors() -> None:
    chosen = compose.Select("ordinal_date", "gallup") | preprocessing.StandardScaler() | IncTNPRegressor(FOLDER)
    mae = evaluate.progressive_val_score(datasets.TrumpApproval().take(20), chosen, metrics.MAE())
    assert mae.get() < 5
    detector, regressor = drift.PageHinkley(min_instances=5, threshold=20), IncTNPRegressor(FOLDER)
    alarms = []
    for i in range(50):
        row, y = {"speed": float(i % 7)}, float(i % 7) + 50.0 * (i >= 40)
        error = abs(regressor.predict_one(row) - y)
        regressor.learn_one(row, y)
        if i >= 20:
            detector.update(error)
            alarms += [i] if detector.drift_detected else []
    assert alarms and 40 <= alarms[0] < 45


def test_a_pickle_goes_on_where_it_stopped() -> None:
    rows, y = make_stream(24)
    model = IncTNPRegressor(FOLDER)
    for row, outcome in zip(rows[:20], y[:20], strict=True):
        model.learn_one(row, outcome)
    model.predict_one(rows[20])
    copy = pickle.loads(pickle.dumps(model))
    for each in (model, copy):
        each.learn_one(rows[20], y[20])
    assert copy.predict_one(rows[21]) == model.predict_one(rows[21])
