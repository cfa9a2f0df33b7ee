"""Saved regressors: bit for bit the unbroken one, and refused whenever they are not what they should be."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from inctnp.errors import MissingDataError, StateError
from inctnp.models.base import NeuralProcess
from inctnp.predictive.base import Predictive
from inctnp.regressor import StreamingRegressor
from inctnp.regressor.session import REGRESSOR
from inctnp.streaming.sealed import Kind
from inctnp.testing.toy import toy_model
from tests.regressor.conftest import make_stream

ROWS, Y = make_stream(330)
CHOICES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "window": {"max_points": 128, "lags": (1, 3), "recency": True},
    "calibrated": {"normalisation": "calibrated", "calibration_rows": 30, "storage": "int8"},
    "supplied": {"normalisation": "supplied", "scales": {"": (100.0, 5.0), "speed": (50.0, 10.0)}},
    "ensemble": {"views": ("direct", "residual"), "groups": 2, "blend": False, "advice": False},
    "watched": {"recalibration": "conformal", "alarm": "restart", "restart_rows": 10},
    "stretched": {"recalibration": "temperature", "max_bytes": 4_000_000},
}


def same_bits(ours: Predictive, theirs: Predictive) -> bool:
    return all(torch.equal(a, b) for a, b in zip(ours.components(), theirs.components(), strict=True))


@pytest.mark.parametrize("choice", CHOICES)
def test_going_on_from_a_file_is_going_on(choice: str, model: NeuralProcess, tmp_path: Path) -> None:
    unbroken = StreamingRegressor(model, **CHOICES[choice])
    for end in (0, 1, 70, 200):
        unbroken.learn(ROWS[len(unbroken) : end], Y[len(unbroken) : end])
        loaded = StreamingRegressor.load(unbroken.save(tmp_path / "state"), model)
        assert loaded.settings == unbroken.settings and loaded.columns == unbroken.columns
        assert (len(loaded), loaded.held) == (len(unbroken), unbroken.held)
        fork = unbroken.fork()
        for row, y in zip(ROWS[end : end + 8], Y[end : end + 8], strict=True):
            assert same_bits(loaded.step(row, y), fork.step(row, y)), len(loaded)
        loaded.learn(ROWS[end + 8 : end + 20], Y[end + 8 : end + 20])
        fork.learn(ROWS[end + 8 : end + 20], Y[end + 8 : end + 20])
        assert same_bits(loaded.predict(ROWS[:3]), fork.predict(ROWS[:3]))
        assert loaded.monitor == fork.monitor


def test_open_questions_survive(model: NeuralProcess, tmp_path: Path) -> None:
    r = StreamingRegressor(model)
    r.learn(ROWS[:40], Y[:40])
    early, late = r.ask(ROWS[40]), r.ask({"speed": 3.0, "unheard": 1.0})
    loaded = StreamingRegressor.load(r.save(tmp_path / "state"), model)
    assert same_bits(loaded.asked(early), r.asked(early))
    for each in (r, loaded):
        each.tell(late, 90.0)
        each.tell(early, Y[40])
    assert same_bits(loaded.predict(ROWS[:3]), r.predict(ROWS[:3])) and loaded.ask(ROWS[0]) == r.ask(ROWS[0])


def rewritten(path: Path, **changes: Any) -> None:
    """The file with another header, sealed anew."""
    header, tensors = REGRESSOR.read(path)
    changed = {**header, **changes}
    Kind(changed["format"], changed["version"], "").write(path, changed, tensors)


def test_what_is_no_state_of_this_model_is_refused(model: NeuralProcess, tmp_path: Path) -> None:
    path = StreamingRegressor(model).save(tmp_path / "state")
    with pytest.raises(MissingDataError, match="no saved regressor"):
        StreamingRegressor.load(tmp_path / "nothing", model)
    with pytest.raises(StateError, match="pass it as model="):
        StreamingRegressor.load(path)
    with pytest.raises(StateError, match="other weights"):
        StreamingRegressor.load(path, toy_model("inctnp-seq", dim_x=8, prior=True, components=2, seed=1))
    for changes, message in (({"version": 99}, "Upgrade"), ({"format": "inctnp-stream"}, "not a saved regressor")):
        rewritten(StreamingRegressor(model).save(path), **changes)
        with pytest.raises(StateError, match=message):
            StreamingRegressor.load(path, model)


def test_a_damaged_file_is_refused(model: NeuralProcess, tmp_path: Path) -> None:
    r = StreamingRegressor(model)
    r.learn(ROWS[:5], Y[:5])
    path = r.save(tmp_path / "state")
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-9] + b"\0" * 9 if whole[-9:] != b"\0" * 9 else b"", b"PK"):
        path.write_bytes(damaged)
        with pytest.raises(StateError):
            StreamingRegressor.load(path, model)


def test_what_others_keep_beside_the_header_does_no_harm(model: NeuralProcess, tmp_path: Path) -> None:
    r = StreamingRegressor(model)
    r.learn(ROWS[:5], Y[:5])
    path = r.save(tmp_path / "state")
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    save_file(load_file(path), path, {**metadata, "note": json.dumps({"rows": 5})})
    assert same_bits(StreamingRegressor.load(path, model).predict(ROWS[:2]), r.predict(ROWS[:2]))
