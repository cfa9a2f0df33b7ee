from pathlib import Path

import pytest
import torch

from inctnp.errors import DataError, StateError
from inctnp.models.base import NeuralProcess
from inctnp.predictive.base import Predictive
from inctnp.regressor import StreamingBank, StreamingRegressor
from inctnp.regressor.bank import LOOK
from tests.regressor.conftest import make_stream

KEYS = ("north", "south/../x", "", "ost\n")
ROWS, Y = make_stream(120)
EVENTS = [(KEYS[i * i % 4 if i % 3 else (i // 10) % 4], row, y) for i, (row, y) in enumerate(zip(ROWS, Y, strict=True))]


def same_bits(ours: Predictive, theirs: Predictive) -> bool:
    return all(torch.equal(a, b) for a, b in zip(ours.components(), theirs.components(), strict=True))


@pytest.mark.parametrize("open_bytes", [0, 1 << 30])
def test_every_key_is_a_stream_of_its_own_wherever_it_is_kept(
    open_bytes: int, model: NeuralProcess, tmp_path: Path
) -> None:
    bank = StreamingBank(model, open_bytes=open_bytes, folder=tmp_path, max_points=128)
    alone = {key: StreamingRegressor(model, max_points=128) for key in KEYS}
    for key, row, y in EVENTS:
        assert same_bits(bank.step(key, row, y), alone[key].step(row, y))
    seen = {key for key, _, _ in EVENTS}
    assert len(bank) == len(seen) and set(bank) == seen
    assert all(bank.rows(key) == len(alone[key]) for key in seen)
    assert (bank.open == 1) == (open_bytes == 0) and (bank.open == len(seen)) == (open_bytes == 1 << 30)
    for key in seen:
        assert same_bits(bank.predict(key, ROWS[:2]), alone[key].predict(ROWS[:2]))
        assert bank.monitor(key) == alone[key].monitor
    bank.close()
    assert list(tmp_path.iterdir()) == []


def test_bytes_in_memory_stay_near_their_limit(model: NeuralProcess) -> None:
    limit = 4 * StreamingRegressor(model).nbytes + 600_000
    bank = StreamingBank(model, open_bytes=limit)
    for i in range(3 * LOOK):
        for key in range(6):
            bank.step(str(key), ROWS[i], Y[i])
        assert bank.nbytes <= limit
    assert 1 < bank.open < 6


def test_a_saved_bank_goes_on_as_it_would_have(model: NeuralProcess, tmp_path: Path) -> None:
    bank = StreamingBank(model, open_bytes=0, lags=(1, 2))
    for key, row, y in EVENTS[:60]:
        bank.step(key, row, y)
    ticket = bank.ask("new", ROWS[0])
    loaded = StreamingBank.load(bank.save(tmp_path / "bank"), model)
    assert list(loaded) == list(bank) and loaded.settings == bank.settings
    assert same_bits(loaded.asked("new", ticket), bank.asked("new", ticket))
    for each in (bank, loaded):
        each.tell("new", ticket, 3.0)
    for key, row, y in EVENTS[60:90]:
        assert same_bits(bank.step(key, row, y), loaded.step(key, row, y))
    assert loaded.rows("new") == 1
    with pytest.raises(StateError, match="not a saved regressor"):
        StreamingRegressor.load(tmp_path / "bank", model)


def test_many_rows_of_a_key_are_learned_at_once(model: NeuralProcess) -> None:
    bank, alone = StreamingBank(model), StreamingRegressor(model)
    bank.learn("a", ROWS[:40], Y[:40])
    alone.learn(ROWS[:40], Y[:40])
    assert same_bits(bank.predict("a", ROWS[:2]), alone.predict(ROWS[:2]))


def test_a_key_is_only_kept_when_something_was_learned(model: NeuralProcess) -> None:
    bank = StreamingBank(model)
    assert bank.predict("a", ROWS[:2]).mean.shape == (2, 1)
    with pytest.raises(DataError, match="finite"):
        bank.step("a", ROWS[0], float("nan"))
    assert len(bank) == 0 and "a" not in bank
    for ask in (lambda: bank.monitor("a"), lambda: bank.asked("a", 1), lambda: bank.tell("a", 1, 0.0)):
        with pytest.raises(DataError, match="No row was ever seen"):
            ask()
