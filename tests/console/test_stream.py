"""`inctnp stream`: every row is predicted, then learned, and told in one record."""

import csv
import gzip
import html
import inspect
import json
import math
import random
from pathlib import Path

import pytest
import torch

from inctnp.console import commands
from inctnp.regressor import RegressorSettings, StreamingRegressor
from tests.console.conftest import Table, Typed, records
from tests.regressor.conftest import make_stream

FIELDS = ["row", "y", "mean", "std", "lower", "upper", "log_score"]


def test_each_record_is_the_prediction_before_its_row_was_learned(stream: Typed, table: Table, toy: str) -> None:
    result = stream(str(table(40)), "--interval", "0.8")
    assert result.exit_code == 0, result.output
    told = records(result.stdout)
    assert [list(record) for record in told] == [FIELDS] * 40
    regressor = StreamingRegressor(toy, level=0.8)
    for number, (record, row, y) in enumerate(zip(told, *make_stream(40), strict=True), start=1):
        p = regressor.step({**row, "on": float(row["on"])}, y)
        low, high = p.interval(0.8)
        outcome = torch.tensor([[y]], dtype=torch.float64)
        expected = [number, y, p.mean, p.stddev, low, high, p.log_prob(outcome)]
        assert list(record.values()) == pytest.approx([float(value) for value in expected], rel=1e-6)
    assert "40 rows   RMSE" in result.stderr


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_records_are_the_same_in_every_format(stream: Typed, table: Table, tmp_path: Path, ending: str) -> None:
    path = table(12)
    path.write_text(path.read_text() + "50,A,,True,\n")
    expected = records(stream(str(path)).stdout)
    out = tmp_path / f"predictions.{ending}"
    result = stream(str(path), "--out", str(out))
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    if ending == "jsonl":
        found = records(out.read_text())
    elif ending == "csv":
        rows = list(csv.DictReader(out.read_text().splitlines()))
        found = [{name: None if text == "" else float(text) for name, text in row.items()} for row in rows]
    else:
        found = pytest.importorskip("pyarrow.parquet").read_table(out).to_pylist()
    assert found == expected


def test_rows_without_an_outcome_are_predicted_and_not_learned(stream: Typed, tmp_path: Path) -> None:
    (tmp_path / "whole.csv").write_text("a,y\n1,2\n2,3\n3,4\n")
    (tmp_path / "asked.csv").write_text("a,y\n1,2\n9,\n2,3\n7,NA\n3,4\n")
    whole = records(stream("whole.csv").stdout)
    asked = records(stream("asked.csv").stdout)
    unknown = [record for record in asked if record["y"] is None]
    assert [record["row"] for record in unknown] == [2, 4]
    assert all(record["log_score"] is None and record["std"] > 0 for record in unknown)
    known = [{**record, "row": 0} for record in asked if record["y"] is not None]
    assert known == [{**record, "row": 0} for record in whole]


def test_a_file_without_any_outcome_says_that_nothing_was_learned(stream: Typed, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,y\n1,\n2,\n")
    result = stream("a.csv")
    assert result.exit_code == 0
    assert "nothing was learned" in result.stderr


def test_with_a_delay_outcomes_are_learned_so_many_rows_later(stream: Typed, table: Table, toy: str) -> None:
    told = records(stream(str(table(20)), "--delay", "3").stdout)
    regressor, waiting = StreamingRegressor(toy), []
    for record, row, y in zip(told, *make_stream(20), strict=True):
        ticket = regressor.ask({**row, "on": float(row["on"])})
        assert record["mean"] == pytest.approx(regressor.asked(ticket).mean.item(), rel=1e-6)
        waiting.append((ticket, y))
        if len(waiting) > 3:
            regressor.tell(*waiting.pop(0))


def test_lags_can_be_chosen(stream: Typed, table: Table) -> None:
    path = str(table(30))
    usual, other, none = (stream(path, "--lags", lags).stdout for lags in ("1", "1,2", "none"))
    assert stream(path).stdout == usual
    assert len({usual, other, none}) == 3


@pytest.mark.parametrize("kind", ["gz", "zst", "jsonl", "parquet"])
def test_the_same_rows_in_another_wrapping_give_the_same_records(
    stream: Typed, table: Table, tmp_path: Path, kind: str
) -> None:
    path = table(10)
    expected, content, other = stream(str(path)).stdout, path.read_bytes(), tmp_path / f"other.{kind}"
    rows = list(csv.DictReader(content.decode().splitlines()))
    if kind == "gz":
        other.write_bytes(gzip.compress(content))
    elif kind == "zst":
        other.write_bytes(pytest.importorskip("zstandard").compress(content))
    elif kind == "jsonl":
        other.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        typed_rows = [{**row, "y": float(row["y"]), "speed": float(row["speed"] or "nan")} for row in rows]
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(typed_rows), other)
    assert stream(str(other)).stdout == expected


def test_the_standard_input_is_a_dash(stream: Typed, table: Table) -> None:
    path = table(10)
    assert stream("-", stdin=path.read_bytes()).stdout == stream(str(path)).stdout


def test_columns_can_be_dropped_and_named(stream: Typed, tmp_path: Path) -> None:
    (tmp_path / "with.csv").write_text("id;a;y\n" + "".join(f"{i};{i % 5};{i % 5}\n" for i in range(20)))
    (tmp_path / "without.csv").write_text("a;y\n" + "".join(f"{i % 5};{i % 5}\n" for i in range(20)))
    assert stream("with.csv", "--drop", "id").stdout == stream("without.csv").stdout
    named = stream("without.csv", "--category", "a")
    assert named.exit_code == 0
    assert named.stdout != stream("without.csv").stdout


def test_a_column_of_moments_may_be_written_in_any_way(stream: Typed, tmp_path: Path) -> None:
    (tmp_path / "iso.csv").write_text("t,y\n" + "".join(f"2024-02-{d:02d},{d}\n" for d in range(1, 20)))
    (tmp_path / "own.csv").write_text("t,y\n" + "".join(f"{d}.2.24,{d}\n" for d in range(1, 20)))
    own = stream("own.csv", "--time", "t", "--time-format", "%d.%m.%y")
    assert own.stdout == stream("iso.csv").stdout


def test_broken_rows_end_the_stream_with_their_line(stream: Typed, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,y\n1,2\n2,high\n3,4\n")
    result = stream("a.csv")
    assert result.exit_code == 2
    assert "Line 3: 'y' is 'high'" in result.stderr
    assert [record["row"] for record in records(result.stdout)] == [1]


def test_broken_rows_can_be_skipped_and_are_counted(stream: Typed, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,y\n1,2\n2,high\n3\n4,5,6\n\xff,1\n3,4\n5,6\n")
    (tmp_path / "clean.csv").write_text("a,y\n1,2\n3,4\n5,6\n")
    result = stream("a.csv", "--on-error", "skip")
    assert result.exit_code == 0
    assert result.stdout == stream("clean.csv").stdout
    assert "Line 3" in result.stderr
    assert "4 broken rows were skipped" in result.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("a,y\n", "holds a header (a, y) and no rows"),
        ("a,b,a,y\n1,2,3,4\n", "2 columns called 'a' (places 1, 3)"),
        ("a,Y\n1,2\n", "There is no column 'y'"),
        ("a,y\n1,north\n", "a finite number, or nothing, was expected"),
        ('a;y\n1;"2,5"\n', "give --decimal ','"),
        ("a,y\n1,inf\n", "a finite number"),
        ("a,y\nb\xe9,2\n".encode("latin-1"), "--encoding latin-1"),
        ('{"a": 1, "y": 2}\n{"a": }\n', "Line 2 is not JSON"),
        (b"PAR1 and no more", "damaged"),
        (gzip.compress(b"a,y\n1,2\n", mtime=0)[:-9], "cut off"),
    ],
)
def test_a_file_that_is_no_table_is_told_from_a_traceback(
    stream: Typed, tmp_path: Path, content: str | bytes, told: str
) -> None:
    (tmp_path / "a").write_bytes(content.encode() if isinstance(content, str) else content)
    result = stream("a")
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.count("Error:") == 1
    assert "Traceback" not in result.output


def test_a_wrong_delimiter_is_answered_with_the_right_one(stream: Typed, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a;b;y\n1;2;3\n")
    assert "give --delimiter ';'" in stream("a.csv", "--delimiter", ",").stderr


def test_a_column_of_mixed_types_is_read_by_its_first_value(stream: Typed, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,y\n1,2\nred,3\n2024-01-01,4\n,5\n4,6\n")
    result = stream("a.csv")
    assert result.exit_code == 0
    assert all(math.isfinite(record["mean"]) for record in records(result.stdout))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--interval", "90"], "between 0 and 1"),
        (["--delay", "-1"], "0 or more"),
        (["--lags", "one"], "whole numbers"),
        (["--lags", "0,1"], "count back from 1"),
        (["--max-points", "5"], "at least"),
        (["--out", "p.xlsx"], ".jsonl, .csv and .parquet"),
        (["--out", "a.csv"], "different files"),
        (["--out", "/proc/none/p.csv"], "cannot be written"),
        (["--state", "/proc/none/s"], "Choose another place"),
        (["--report", "."], "is a folder"),
        (["--model", "tabulr"], "No model is called 'tabulr'"),
        (["--time", "z"], "no column 'z'"),
        (["--time-format", "%Y"], "time column too"),
        (["--delimiter", ",,"], "one character"),
        (["--encoding", "utf8ish"], "No text encoding"),
        (["--on-error", "skipp"], "skip"),
        (["--format", "xlsx"], "parquet"),
        (["--targt", "y"], "--target"),
    ],
)
def test_wrong_options_end_with_status_2_and_say_what_is_right(
    stream: Typed, tmp_path: Path, words: list[str], told: str
) -> None:
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    result = stream("a.csv", *words)
    assert result.exit_code == 2
    assert told in result.stderr
    assert (tmp_path / "a.csv").read_text() == "a,y\n1,2\n"


def test_the_report_tells_of_the_stream(stream: Typed, table: Table, tmp_path: Path) -> None:
    result = stream(str(table(60)), "--report", "deep/report.html", "--out", "p.csv")
    page = (tmp_path / "deep" / "report.html").read_text()
    assert result.exit_code == 0
    assert "y of table.csv" in page
    assert "60 rows were predicted" in page
    assert "report: deep/report.html" in result.stderr


def test_an_alarm_is_told_when_it_comes_and_again_in_the_report(stream: Typed, tmp_path: Path) -> None:
    rng = random.Random(0)
    ys = [rng.gauss(0, 1) for _ in range(150)] + [2.0**row for row in range(90)]
    (tmp_path / "a.csv").write_text("y\n" + "".join(f"{y}\n" for y in ys))
    result = stream("a.csv", "--alarm", "ignore", "--out", "p.jsonl", "--report", "r.html")
    assert result.exit_code == 0, result.output
    (told,) = [line for line in result.stderr.splitlines() if line.startswith("alarm: Row ")][:1]
    assert html.escape(told.removeprefix("alarm: ")) in (tmp_path / "r.html").read_text()
    assert "alarm: " not in stream("a.csv", "--out", "p.jsonl").stderr


def test_the_defaults_that_help_tells_are_those_of_the_regressor() -> None:
    told = {name: option.default for name, option in inspect.signature(commands.stream).parameters.items()}
    settings = RegressorSettings()
    assert told["lags"] == ",".join(map(str, settings.lags))
    assert (told["max_points"], told["interval"]) == (settings.max_points, settings.level)
    assert told["model"] == settings.model
