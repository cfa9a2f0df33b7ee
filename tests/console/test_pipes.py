"""Pipes: rows that come when they like, and readers that leave."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.console.conftest import Table, records
from tests.console.test_resume import process

PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}


@contextmanager
def piped(folder: Path, toy: str, *words: str) -> "Iterator[subprocess.Popen[bytes]]":
    with process(folder, "-", "--target", "y", "--model", toy, *words, bufsize=0, **PIPES) as run:
        yield run


def test_a_record_is_there_before_the_next_row_comes_and_ctrl_c_ends_the_wait(tmp_path: Path, toy: str) -> None:
    with piped(tmp_path, toy, "--state", "s") as run:
        assert run.stdin is not None and run.stdout is not None
        run.stdin.write(b"a,y\n")
        for row in (1, 2, 3):
            run.stdin.write(b"%d,%d\n" % (row, row))
            (record,) = records(run.stdout.readline().decode())
            assert record["row"] == row
        run.send_signal(signal.SIGINT)
        rest, errors = run.communicate(timeout=30)
    assert run.returncode == 130
    assert rest == b""
    assert b"stopped after row 3: the same command goes on from there" in errors
    assert b"state: s" in errors and b"Traceback" not in errors
    assert (tmp_path / "s").exists()


def test_ctrl_c_before_the_first_row_leaves_quietly(tmp_path: Path, toy: str) -> None:
    with piped(tmp_path, toy, "--state", "s") as run:
        assert run.stderr is not None
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(5)
        run.send_signal(signal.SIGINT)
        assert run.wait(30) == 130
        assert b"Traceback" not in run.stderr.read()
    assert not (tmp_path / "s").exists()


def test_a_reader_that_leaves_ends_the_stream_without_a_word(table: Table, tmp_path: Path, toy: str) -> None:
    table(400)
    with process(tmp_path, "table.csv", "--target", "y", "--model", toy, "--state", "s", stdout=subprocess.PIPE) as run:
        assert run.stdout is not None and run.stderr is not None
        first = run.stdout.readline()
        run.stdout.close()
        assert run.wait(60) == 141
        assert run.stderr.read() == b""
    assert records(first.decode())[0]["row"] == 1
    assert (tmp_path / "s").exists()


def test_a_full_disk_is_told(table: Table, tmp_path: Path, toy: str) -> None:
    table(5)
    words = ["table.csv", "--target", "y", "--model", toy]
    with Path("/dev/full").open("wb") as full, process(tmp_path, *words, stdout=full) as run:
        _, errors = run.communicate(timeout=60)
    assert run.returncode == 2
    assert b"Records cannot be written: No space left" in errors
    assert b"Traceback" not in errors


def resident(run: "subprocess.Popen[bytes]") -> int:
    """Bytes."""
    status = Path(f"/proc/{run.pid}/status").read_text()
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmRSS"))


@pytest.mark.slow
def test_an_endless_pipe_takes_no_more_memory_and_no_more_time(tmp_path: Path, toy: str) -> None:
    # The reader alone passes 2 million rows; with the model this many would take an hour.
    sizes = []
    with piped(tmp_path, toy, "--max-points", "128", "--lags", "none", "--report", "r.html") as run:
        assert run.stdin is not None and run.stdout is not None
        run.stdin.write(b"a,b,y\n")
        for row in range(40_000):
            run.stdin.write(b"%d,%d,%d\n" % (row % 97, row % 31, row % 13))
            run.stdout.readline()
            if row in (10_000, 39_999):
                sizes.append(resident(run))
        run.stdin.close()
        assert run.wait(60) == 0
    assert sizes[1] < sizes[0] + (8 << 20)
