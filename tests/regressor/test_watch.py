import sys

import numpy as np
import pytest

from inctnp.errors import ConfigError
from inctnp.models.base import NeuralProcess
from inctnp.regressor import StreamingRegressor
from inctnp.regressor.watch import LIFE, Watch

LEVELS = np.random.default_rng(0).uniform(size=2000)


def alarms(watch: Watch, levels: np.ndarray) -> list[tuple[int, str]]:
    found = [(i, watch.sees(level)) for i, level in enumerate(levels.tolist())]
    return [(i, message) for i, message in found if message]


def test_honest_predictions_raise_no_alarm() -> None:
    assert alarms(Watch(), LEVELS) == []


@pytest.mark.parametrize(
    ("after", "word"),
    [
        (0.7 + 0.3 * LEVELS, "higher"),
        (0.3 * LEVELS, "lower"),
        (np.where(LEVELS > 0.5, 0.9 + 0.1 * LEVELS, 0.1 * LEVELS), "further from"),
        (0.4 + 0.2 * LEVELS, "nearer to"),
    ],
)
def test_outcomes_that_stop_looking_like_predictions_are_noticed_soon(after: np.ndarray, word: str) -> None:
    found = alarms(Watch(), np.concatenate([LEVELS[:600], after[600:900]]))
    assert found and 600 < found[0][0] < 800 and word in found[0][1]


def test_a_watch_goes_on_from_its_state_and_keeps_only_so_much() -> None:
    levels = np.concatenate([LEVELS, LEVELS, LEVELS, 0.6 + 0.4 * LEVELS[:300]])
    whole, first = Watch(), Watch()
    expected = alarms(whole, levels)
    early = alarms(first, levels[:5500])
    assert len(first.told) < LIFE
    late = alarms(Watch(**first.state()), levels[5500:])
    assert early + [(5500 + i, message) for i, message in late] == expected and expected


ROWS = [{"x": float(x)} for x in np.random.default_rng(1).normal(size=260)]
BROKEN = [row["x"] + 50 * (i >= 150) for i, row in enumerate(ROWS)]


@pytest.mark.parametrize("policy", ["ignore", "restart"])
def test_an_alarm_does_what_was_asked(policy: str, model: NeuralProcess) -> None:
    """Without the forecasters that get used to anything, and with statistics that stay as they were."""
    frozen = {"blend": False, "lags": (), "normalisation": "calibrated", "calibration_rows": 30}
    r, again = (StreamingRegressor(model, alarm=policy, restart_rows=20, **frozen) for _ in range(2))
    held = []
    for row, y in zip(ROWS, BROKEN, strict=True):
        r.step(row, y)
        held.append(r.held)
    rows = [alarm.row for alarm in r.monitor.alarms if alarm.row >= 150]
    assert rows and rows[0] < 250
    assert (20 in held[150:]) == (policy == "restart")
    again.learn(ROWS, BROKEN)
    assert again.monitor.alarms == r.monitor.alarms and again.held == r.held


def test_alarms_without_river_say_what_to_install(monkeypatch: pytest.MonkeyPatch, model: NeuralProcess) -> None:
    monkeypatch.setitem(sys.modules, "river.drift", None)
    with pytest.raises(ConfigError, match=r"pip install inctnp\[river\]"):
        StreamingRegressor(model, alarm="ignore")
    StreamingRegressor(model)
