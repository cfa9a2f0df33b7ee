"""Whole streams with compiled rows, beside the same streams without: policies, forks, rollbacks and saved state."""

from pathlib import Path
from typing import Any

import pytest
import torch

import inctnp
from inctnp.errors import DataError, ShapeError
from inctnp.testing.toy import toy_points
from inctnp.transformer.storage import STORAGES
from tests.fused.conftest import narrow
from tests.fused.test_process import assert_near

MODEL = narrow()
X, Y = toy_points(MODEL, 400)
POLICIES: dict[str, dict[str, Any]] = {
    "all": {},
    "window": {"policy": "window", "max_points": 50},
    "anchored window": {"policy": "window", "max_points": 60, "anchor": 9},
    "reservoir": {"policy": "reservoir", "max_points": 40, "seed": 3},
}


def pair(**settings: Any) -> list[inctnp.Stream]:
    return [MODEL.stream(backend=backend, **settings) for backend in ("fused", "eager")]


@pytest.mark.parametrize("settings", POLICIES.values(), ids=POLICIES.keys())
def test_steps_under_every_policy_are_those_of_the_model(settings: dict[str, Any]) -> None:
    fused, eager = pair(**settings)
    for i in range(200):
        assert_near(fused.step(X[i], Y[i]), eager.step(X[i], Y[i]))
    assert (len(fused), fused.held) == (len(eager), eager.held)


@pytest.mark.parametrize("settings", POLICIES.values(), ids=POLICIES.keys())
def test_a_step_is_a_prediction_and_an_observation(settings: dict[str, Any]) -> None:
    for backend in ("fused", "eager"):
        stepping, by_hand = (MODEL.stream(backend=backend, **settings) for _ in range(2))
        for i in range(120):
            wanted = by_hand.predict(X[i])
            by_hand.observe(X[i], Y[i])
            assert torch.equal(stepping.step(X[i], Y[i]).mean, wanted.mean)


@pytest.mark.parametrize("storage", STORAGES)
def test_rows_may_be_learned_by_either_in_turn(storage: str) -> None:
    """Narrow rows are rounded where they are stored, so a row that rounds apart moves answers by more than rounding."""
    fused, eager = pair(storage=storage)
    error = {"exact": 1e-5, "bfloat16": 1e-2, "int8": 1e-2}[storage]
    for start in range(0, 300, 30):
        for stream in (fused, eager):
            stream.observe(X[start : start + 20], Y[start : start + 20])
            for i in range(start + 20, start + 30):
                stream.observe(X[i], Y[i])
        got, wanted = fused.predict(X[start]).mean, eager.predict(X[start]).mean
        assert (got - wanted).abs() <= error * (1 + wanted.abs())


def test_forks_and_rollbacks_leave_the_others_alone() -> None:
    fused, eager = pair()
    streams = [[fused, eager]]
    for turn in range(12):
        owner = streams[turn * 5 % len(streams)]
        streams.append([stream.fork() for stream in owner])
        for i in range(29 * turn, 29 * turn + 29):
            assert_near(owner[0].step(X[i], Y[i]), owner[1].step(X[i], Y[i]))
        for stream in streams[turn * 3 % len(streams)]:
            stream.rollback(to=len(stream) - len(stream) // 3)
        for mine, theirs in streams:
            assert len(mine) == len(theirs)
            if len(mine):
                assert_near(mine.predict(X[0]), theirs.predict(X[0]))


@pytest.mark.parametrize("settings", POLICIES.values(), ids=POLICIES.keys())
def test_a_saved_stream_goes_on_bit_for_bit(settings: dict[str, Any], tmp_path: Path) -> None:
    stream = MODEL.stream(backend="fused", **settings)
    for i in range(110):
        stream.step(X[i], Y[i])
    loaded = inctnp.Stream.load(stream.save(tmp_path / "state.safetensors"), MODEL)
    assert loaded.backend == "fused"
    for i in range(110, 170):
        assert torch.equal(loaded.step(X[i], Y[i]).mean, stream.step(X[i], Y[i]).mean)


def test_a_state_is_read_where_compiled_code_is_not_to_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fused, eager = pair()
    for stream in (fused, eager):
        stream.observe(X[:9], Y[:9])
    fused.save(tmp_path / "state")
    monkeypatch.setattr("inctnp.fused.backend._numba_is_here", lambda: False)
    loaded = inctnp.Stream.load(tmp_path / "state", MODEL)
    assert loaded.backend == "auto"
    assert_near(loaded.predict(X[9]), eager.predict(X[9]))


def test_a_refused_step_changes_nothing() -> None:
    for stream in pair(keep_rows=True):
        stream.observe(X[:5], Y[:5])
        before = stream.predict(X[6]).mean
        with pytest.raises(ShapeError, match="step takes one row, not 2"):
            stream.step(X[:2], Y[:2])
        with pytest.raises(DataError, match="nan"):
            stream.step(X[5], float("nan"))
        assert len(stream) == 5 and torch.equal(stream.predict(X[6]).mean, before)
        stream.step(X[5], Y[5])
        stream.rollback(to=5)
        assert torch.equal(stream.predict(X[6]).mean, before)
