"""A stream that was stopped goes on as if nothing had happened."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.console.conftest import Table, Typed, records

ROOT = Path(__file__).parents[2]


def process(folder: Path, *words: str, **pipes: object) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "inctnp", "stream", *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, **pipes)  # type: ignore[call-overload]


def wait_for_lines(path: Path, count: int, run: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and run.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stream_that_was_interrupted_ends_with_the_records_of_one_that_was_not(
    stream: Typed, table: Table, toy: str, tmp_path: Path, number: signal.Signals
) -> None:
    path, out = table(900), tmp_path / "out.jsonl"
    words = ["table.csv", "--target", "y", "--model", toy, "--out", "out.jsonl", "--state", "s.safetensors"]
    with process(tmp_path, *words, "--save-every", "0.3", "--delay", "2") as run:
        wait_for_lines(out, 150, run)
        if number is signal.SIGKILL:
            wait_for_lines(tmp_path / "s.safetensors", 0, run)
        run.send_signal(number)
        _, errors = run.communicate(timeout=60)
    assert run.returncode == (130 if number is signal.SIGINT else -9), errors
    assert 150 <= len(out.read_bytes().splitlines()) < 900
    again = stream("table.csv", *words[5:], "--delay", "2")
    assert again.exit_code == 0, again.output
    assert "going on after row" in again.stderr
    whole = stream(str(path), "--delay", "2")
    assert out.read_text() == whole.stdout


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_other_formats_go_on_as_well(stream: Typed, table: Table, tmp_path: Path, ending: str) -> None:
    rows = table(60).read_text().splitlines(keepends=True)
    grown, outs = tmp_path / "grown.csv", [tmp_path / f"{name}.{ending}" for name in ("parts", "whole")]
    for lines in (21, 41, 61):
        grown.write_text("".join(rows[:lines]))
        assert stream("grown.csv", "--out", str(outs[0]), "--state", "s").exit_code == 0
    assert stream("table.csv", "--out", str(outs[1])).exit_code == 0
    if ending == "csv":
        assert outs[0].read_text() == outs[1].read_text()
    else:
        pq = pytest.importorskip("pyarrow.parquet")
        assert pq.read_table(outs[0]).equals(pq.read_table(outs[1]))


def test_another_file_is_learned_from_its_first_row(stream: Typed, table: Table, tmp_path: Path) -> None:
    lines = table(40).read_text().splitlines(keepends=True)
    (tmp_path / "january.csv").write_text("".join(lines[:21]))
    (tmp_path / "february.csv").write_text("".join([lines[0], *lines[21:]]))
    first, second = (stream(f"{month}.csv", "--state", "s").stdout for month in ("january", "february"))
    assert first + second == stream("table.csv").stdout
    assert stream("february.csv", "--state", "s").stdout == ""


def test_a_pipe_goes_on_with_what_comes(stream: Typed, table: Table) -> None:
    lines = table(30).read_bytes().splitlines(keepends=True)
    first = stream("-", "--state", "s", stdin=b"".join(lines[:16])).stdout
    second = stream("-", "--state", "s", stdin=b"".join([lines[0], *lines[16:]])).stdout
    assert first + second == stream("table.csv").stdout


def test_a_row_that_broke_the_stream_can_be_mended(stream: Typed, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    good = [f"{i},{i % 4}\n" for i in range(20)]
    path.write_text("a,y\n" + "".join(good[:10]) + "x\n" + "".join(good[10:]))
    broken = stream("a.csv", "--state", "s", "--out", "out.jsonl")
    assert broken.exit_code == 2
    path.write_text("a,y\n" + "".join(good))
    assert stream("a.csv", "--state", "s", "--out", "out.jsonl").exit_code == 0
    assert (tmp_path / "out.jsonl").read_text() == stream("a.csv").stdout


def test_records_of_another_program_run_on_behind_the_state_are_cut_off(
    stream: Typed, table: Table, tmp_path: Path
) -> None:
    lines, out = table(30).read_text().splitlines(keepends=True), tmp_path / "out.jsonl"
    (tmp_path / "grown.csv").write_text("".join(lines[:21]))
    stream("grown.csv", "--state", "s", "--out", "out.jsonl")
    # As after a power cut: more was written than the state knows of, the last record not to its end.
    out.write_text(out.read_text() + '{"row": 21, "y": 0}\n{"row": 22, "y"')
    (tmp_path / "grown.csv").write_text("".join(lines))
    stream("grown.csv", "--state", "s", "--out", "out.jsonl")
    assert out.read_text() == stream("table.csv").stdout


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (["--target", "speed"], "target 'y', this call says 'speed'"),
        (["--lags", "2"], "lags"),
        (["--interval", "0.5"], "level"),
        (["--drop", "on"], "drop"),
        (["--delay", "1"], "delay"),
    ],
)
def test_a_state_is_not_used_with_other_choices(
    stream: Typed, table: Table, tmp_path: Path, changed: list[str], told: str
) -> None:
    table(10)
    stream("table.csv", "--state", "s", "--out", "out.jsonl")
    before = (tmp_path / "s").read_bytes(), (tmp_path / "out.jsonl").read_bytes()
    result = stream("table.csv", "--state", "s", "--out", "out.jsonl", *changed)
    assert result.exit_code == 2
    assert told in result.stderr
    assert ((tmp_path / "s").read_bytes(), (tmp_path / "out.jsonl").read_bytes()) == before


@pytest.mark.parametrize("content", ["b,y\n1,2\n", '{"b": 1, "y": 2}\n'])
def test_a_table_that_has_nothing_in_common_with_a_state_is_refused(
    stream: Typed, table: Table, tmp_path: Path, content: str
) -> None:
    table(10)
    stream("table.csv", "--state", "s")
    (tmp_path / "other").write_text(content)
    before = (tmp_path / "s").read_bytes()
    result = stream("other", "--state", "s")
    assert result.exit_code == 2
    assert "speed, line" in result.stderr
    assert (tmp_path / "s").read_bytes() == before


def test_a_file_whose_learned_rows_have_changed_is_refused(stream: Typed, table: Table, tmp_path: Path) -> None:
    lines = table(20).read_text().splitlines(keepends=True)
    stream("table.csv", "--state", "s")
    for changed in (lines[:20], [*lines[:20], "1,A,2024-01-01,1,5\n", "1,A,2024-01-01,1,5\n"]):
        (tmp_path / "table.csv").write_text("".join(changed))
        result = stream("table.csv", "--state", "s")
        assert result.exit_code == 2
        assert "rows have changed" in result.stderr


def test_a_file_that_is_no_state_is_refused(stream: Typed, table: Table, tmp_path: Path, toy: str) -> None:
    table(5)
    (tmp_path / "s").write_text("not a state")
    result = stream("table.csv", "--state", "s")
    assert result.exit_code == 2
    assert "s is damaged" in result.stderr
    result = stream("table.csv", "--state", f"{toy}/model.safetensors")
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_the_records_of_a_call_number_the_rows_of_the_whole_stream(stream: Typed, table: Table, tmp_path: Path) -> None:
    lines = table(10).read_text().splitlines(keepends=True)
    (tmp_path / "grown.csv").write_text("".join(lines[:6]))
    stream("grown.csv", "--state", "s")
    (tmp_path / "grown.csv").write_text("".join(lines))
    assert [record["row"] for record in records(stream("grown.csv", "--state", "s").stdout)] == [6, 7, 8, 9, 10]
