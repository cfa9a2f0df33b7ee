import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inctnp.cli import app  # noqa: F401  # the command line imports without the extras
from inctnp.errors import StateError, UnknownNameError
from inctnp.pretrained.weights import save_pretrained
from inctnp.quality.command import quality
from inctnp.quality.comparison import SMOKE, Scale, collect, compare
from inctnp.quality.ledger import Ledger
from inctnp.quality.page import page
from inctnp.testing.toy import toy_model

TINY = replace(SMOKE, limit=16, contestants=("inctnp", "last value"))


def toy_folder(folder: Path, seed: int) -> str:
    return str(save_pretrained(toy_model("inctnp-seq", dim_x=12, layers=1, prior=True, seed=seed), folder))


def test_cells_are_measured_once_and_again_when_the_weights_have_changed(tmp_path: Path) -> None:
    ledger, told = Ledger(tmp_path / "rows.jsonl"), list[str]()
    first = replace(TINY, model=toy_folder(tmp_path / "a", seed=0))
    rows = compare(first, ledger, told.append)
    assert [row["contestant"] for row in rows] == ["inctnp", "last value"] and len(told) == 2
    assert compare(first, ledger, told.append) == rows and len(told) == 2
    other = replace(first, model=toy_folder(tmp_path / "b", seed=1))
    again = compare(other, ledger, told.append)
    assert len(told) == 3 and again[1] == rows[1] and again[0]["config"]["weights"] != rows[0]["config"]["weights"]
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 2
    assert collect(other, ledger) == again


def test_a_model_that_is_not_there_leaves_the_rivals(tmp_path: Path) -> None:
    told = list[str]()
    rows = compare(replace(TINY, model="nowhere"), Ledger(tmp_path / "rows.jsonl"), told.append)
    assert [row["contestant"] for row in rows] == ["last value"] and "nowhere" in told[0]


def test_names_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="last value"):
        Scale(contestants=("oracle",))
    with pytest.raises(UnknownNameError, match="airline"):
        compare(replace(SMOKE, streams=("sea",)), Ledger(tmp_path / "rows.jsonl"), print)


def test_a_line_that_is_no_measurement_is_named(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"stream": "airline"\n')
    with pytest.raises(StateError, match="Line 1"):
        Ledger(tmp_path / "rows.jsonl").read()


def test_the_page_averages_those_who_finished_and_marks_the_best() -> None:
    scale = replace(SMOKE, streams=("airline", "water"), contestants=("inctnp", "last value", "linear"))

    def row(stream: str, contestant: str, log_score: float) -> dict[str, object]:
        figures = {"crps": 0.1, "rmse": 0.2, "coverage": 0.9 if contestant == "linear" else 0.8, "microseconds": 5.0}
        named = {"stream": stream, "contestant": contestant, "config": {"weights": "abc"}}
        return {**named, "log_score": log_score, "rows": 50, **figures}

    measured = [row("airline", "inctnp", 1.0), row("airline", "last value", -0.5), row("airline", "linear", 0.25)]
    text = page(scale, measured)
    assert "Averages over 1 stream." in text and "| inctnp | 1.000 | 0.100 | 0.200 | 0.100 | 5 | 1 of 1 |" in text
    assert text.index("| inctnp | 1.000") < text.index("| linear | 0.250") < text.index("| last value | −0.500")
    assert "In log score on 0 of 1 streams. In CRPS on 0 of 1 streams." in text and "Our weights: `abc`" in text
    worse = page(scale, [{**measured[0], "log_score": 0.0}, *measured[1:]])
    assert "In log score on 1 of 1 streams: airline (linear)." in worse
    more = page(scale, [*measured, row("water", "linear", 9.0)])
    assert "left out here: inctnp, last value" in more and "| linear | 4.625 |" in more
    assert "| inctnp | **1.00** | — |" in more and "| last value | −0.50 | — |" in more
    assert "| linear | **0.90** | **0.90** |" in more


def test_the_command_measures_and_writes_the_page(tmp_path: Path) -> None:
    import typer

    command = typer.Typer(pretty_exceptions_enable=False)
    command.command()(quality)
    choice = ["--scale", "smoke", "--model", toy_folder(tmp_path / "toy", seed=0), "--out", str(tmp_path)]
    done = CliRunner().invoke(command, [*choice, "--contestants", "last value,linear"])
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (tmp_path / "quality.jsonl").read_text().splitlines()]
    assert {row["contestant"] for row in rows} == {"last value", "linear"} and all(row["rows"] == 50 for row in rows)
    written = (tmp_path / "quality.md").read_text()
    assert CliRunner().invoke(command, [*choice, "--draw-only"]).exit_code == 0
    assert (tmp_path / "quality.md").read_text() == written and "| linear |" in written
