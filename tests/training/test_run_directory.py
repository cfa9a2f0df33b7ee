"""The folder of a run."""

import json
from pathlib import Path

import pytest

from inctnp.errors import StateError, StorageError
from inctnp.training.progress import Report
from inctnp.training.run_directory import RunDirectory, require_same_recipe, run_directory
from tests.training.conftest import tiny

REPORT = Report(7, 0.5, 1e-3, 4.0, 1.0, gap=0.25, measured={"gnsr": 2.0})


def test_a_row_holds_what_is_known_and_nothing_else(tmp_path: Path) -> None:
    folder = RunDirectory(tmp_path)
    folder.append(REPORT)
    (row,) = folder.rows()
    assert (row["step"], row["gap"], row["gnsr"]) == (7, 0.25, 2.0)
    assert not {"log_likelihood", "joint_gap", "measured"} & row.keys()


def test_a_line_cut_short_is_no_row(tmp_path: Path) -> None:
    folder = RunDirectory(tmp_path)
    folder.append(REPORT)
    with folder.metrics.open("a") as file:
        file.write('{"step": 8, "lo')
    assert [row["step"] for row in folder.rows()] == [7]
    folder.forget_after(7)
    assert folder.metrics.read_text().count("\n") == 1
    folder.forget_after(6)
    assert folder.rows() == []


def test_metrics_that_cannot_be_written_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").mkdir()
    with pytest.raises(StorageError, match="start the same command again"):
        RunDirectory(tmp_path).append(REPORT)


def test_the_resolved_settings_lie_beside_the_run(tmp_path: Path) -> None:
    RunDirectory(tmp_path).describe(tiny())
    written = json.loads((tmp_path / "recipe.json").read_text())
    assert written["hash"] == tiny().hash
    assert written["recipe"]["optimisation"]["rate"] == 1e-3


def test_runs_are_set_aside_under_the_first_free_number(tmp_path: Path) -> None:
    folder = RunDirectory(tmp_path / "run")
    assert folder.set_aside() is None
    for number in (1, 2):
        folder.path.mkdir()
        assert folder.set_aside() == tmp_path / f"run.before-{number}"


def test_what_a_killed_process_half_wrote_is_removed(tmp_path: Path) -> None:
    part = tmp_path / ".checkpoint.safetensors.abc"
    part.write_bytes(b"half")
    with RunDirectory(tmp_path).held():
        assert not part.exists()


def test_settings_newer_than_a_run_must_be_at_their_default(tmp_path: Path) -> None:
    older = tiny().as_dict()
    del older["batches_per_step"], older["phases"][0]["data"]["noise"]
    with pytest.raises(StateError, match=r"noise \(unset there"):
        require_same_recipe(older, tiny(), tmp_path)  # of the first version: always written
    older["phases"][0]["data"]["noise"] = 0.1
    require_same_recipe(older, tiny(), tmp_path)
    with pytest.raises(StateError, match=r"batches_per_step \(unset there, 2 here\)"):
        require_same_recipe(older, tiny("batches_per_step=2"), tmp_path)


def test_the_default_place_is_named_by_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INCTNP_CACHE", str(tmp_path))
    place = run_directory("rbf-64", "fast", tiny()).path
    assert place == tmp_path / "runs" / "rbf-64-fast" / f"inctnp-seq-{tiny().hash}"
