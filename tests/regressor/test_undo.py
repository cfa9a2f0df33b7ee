import pytest

from inctnp.errors import ConfigError, DataError, RollbackError
from inctnp.models.base import NeuralProcess
from inctnp.predictive.base import Predictive
from inctnp.regressor import StreamingBank, StreamingRegressor
from tests.regressor.conftest import make_stream

ROWS, Y = make_stream(170)
SETTINGS = {"max_points": 128, "lags": (1, 3), "recalibration": "conformal"}


def apart(one: Predictive, other: Predictive) -> float:
    return max((one.mean - other.mean).abs().max().item(), (one.stddev - other.stddev).abs().max().item())


def stepped(model: NeuralProcess, rows: int, undo: int = 100, **changed: float) -> StreamingRegressor:
    r = StreamingRegressor(model, undo=undo, **SETTINGS)
    for i in range(rows):
        r.step(ROWS[i], changed.get(f"y{i}", Y[i]))
    return r


@pytest.mark.parametrize(("rows", "after"), [(40, 0), (40, 33), (150, 100), (150, 149), (150, 150)])
def test_forgetting_rows_is_never_having_had_them(rows: int, after: int, model: NeuralProcess) -> None:
    """In texts whose codes were given out, statistics, windows and corrections, too."""
    r, never = stepped(model, rows), stepped(model, after)
    r.step({"new": "column", "line": "unheard"}, 5.0)
    r.forget(after=after)
    assert len(r) == after and r.columns == never.columns and r.monitor == never.monitor
    assert apart(r.predict(ROWS[:3]), never.predict(ROWS[:3])) < 1e-9
    for i in range(after, after + 12):
        assert apart(r.step(ROWS[i], Y[i]), never.step(ROWS[i], Y[i])) < 1e-9


@pytest.mark.parametrize("row", [90, 149])
def test_a_correction_is_having_learned_it_so(row: int, model: NeuralProcess) -> None:
    r, right = stepped(model, 150), stepped(model, 150, **{f"y{row}": 77.0})
    r.correct(row, 77.0)
    assert len(r) == 150 and r.monitor == right.monitor
    assert apart(r.predict(ROWS[:3]), right.predict(ROWS[:3])) < 1e-9
    r.correct(row, Y[row])
    assert apart(r.predict(ROWS[:3]), stepped(model, 150).predict(ROWS[:3])) < 1e-9


def test_late_outcomes_can_be_forgotten_and_corrected(model: NeuralProcess) -> None:
    def told(y: float, until: int) -> StreamingRegressor:
        r = StreamingRegressor(model, undo=60)
        r.learn(ROWS[:40], Y[:40])
        tickets = [r.ask(ROWS[40]), r.ask(ROWS[41])]
        for ticket, outcome in list(zip(reversed(tickets), (y, 3.0), strict=True))[:until]:
            r.tell(ticket, outcome)
        return r

    r = told(1.0, 2)
    r.correct(40, 9.0)
    assert apart(r.predict(ROWS[:3]), told(9.0, 2).predict(ROWS[:3])) < 1e-9
    r.forget(after=41)
    assert apart(r.predict(ROWS[:3]), told(9.0, 1).predict(ROWS[:3])) < 1e-9
    r.tell(1, 3.0)
    assert apart(r.predict(ROWS[:3]), told(9.0, 2).predict(ROWS[:3])) < 1e-9


def test_forks_are_undone_on_their_own(model: NeuralProcess) -> None:
    r = stepped(model, 40)
    fork, before = r.fork(), r.predict(ROWS[:3])
    fork.forget(after=20)
    assert len(fork) == 20 and apart(r.predict(ROWS[:3]), before) == 0
    r.forget(after=20)
    assert apart(r.predict(ROWS[:3]), fork.predict(ROWS[:3])) < 1e-9


def test_rows_that_are_gone_are_refused_and_nothing_changes(model: NeuralProcess) -> None:
    r, none = stepped(model, 150, undo=20), stepped(model, 5, undo=0)
    before = r.predict(ROWS[:2])
    for undo in (lambda: r.forget(after=50), lambda: r.correct(50, 1.0), lambda: none.forget(after=4)):
        with pytest.raises(RollbackError, match="larger undo"):
            undo()
    for wrong in (lambda: r.forget(after=151), lambda: r.forget(after=-1), lambda: r.correct(150, 1.0)):
        with pytest.raises(RollbackError, match="no row"):
            wrong()
    with pytest.raises(DataError, match="finite"):
        r.correct(149, float("inf"))
    assert len(r) == 150 and apart(r.predict(ROWS[:2]), before) == 0
    with pytest.raises(ConfigError, match="undo"):
        StreamingBank(model, undo=5)
