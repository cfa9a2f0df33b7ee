"""Bytes from files and pipes, packed or not."""

import gzip
import itertools
import os
import threading
import time
from pathlib import Path

import pytest

from inctnp.errors import ConfigError, DataError, MissingDataError
from inctnp.rows import Reading, open_rows
from inctnp.rows.source import InterruptedReading

ROWS = b"a,y\n" + b"".join(b"%d,%d\n" % (number, number) for number in range(2000))


def read(path: Path) -> list[float]:
    return [row["y"] for _, row in open_rows(str(path)).rows]


@pytest.mark.parametrize("cuts", [[], [3], [4, 900]])
def test_packed_files_are_told_by_their_bytes(tmp_path: Path, cuts: list[int]) -> None:
    zstandard = pytest.importorskip("zstandard")
    edges = [0, *cuts, len(ROWS)]
    parts = [ROWS[first:last] for first, last in itertools.pairwise(edges)]
    for pack in (gzip.compress, zstandard.compress):
        path = tmp_path / "named.csv"
        path.write_bytes(b"".join(map(pack, parts)))
        assert read(path) == list(range(2000))


def test_a_packed_file_that_was_cut_off_or_damaged_is_refused(tmp_path: Path) -> None:
    path, packed = tmp_path / "a.gz", gzip.compress(ROWS)
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match="cut off"):
        read(path)
    path.write_bytes(packed[:40] + b"\0" * 40 + packed[80:])
    with pytest.raises(DataError, match="damaged"):
        read(path)


def test_a_row_is_there_as_soon_as_it_was_written(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    seen, arrived = [], threading.Event()

    def write() -> None:
        with pipe.open("wb", buffering=0) as file:
            for line in (b"a,", b"y\n", b"1,", b"2\n"):
                file.write(line)
            assert arrived.wait(10), "the first row was held back until the next one"
            file.write(b"3,4\n")

    writer = threading.Thread(target=write)
    writer.start()
    for _, row in open_rows(str(pipe)).rows:
        seen.append(row["y"])
        arrived.set()
    writer.join()
    assert seen == [2.0, 4.0]


def test_waiting_for_a_row_can_be_ended(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, b"a,y\n1,2\n")
    stopped: list[bool] = []
    table = open_rows(str(pipe), stopped=lambda: bool(stopped))
    next(table.rows)
    stopped.append(True)
    with pytest.raises(InterruptedReading):
        next(table.rows)
    os.close(writer)


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="no file"):
        open_rows(str(tmp_path / "none"))
    with pytest.raises(MissingDataError, match="is a folder"):
        open_rows(str(tmp_path))


@pytest.mark.parametrize(
    "wrong",
    [
        {"format": "xlsx"},
        {"delimiter": "ab"},
        {"delimiter": '"'},
        {"decimal": "·"},
        {"decimal": ",", "delimiter": ","},
        {"encoding": "utf-17"},
        {"encoding": "utf-16"},
        {"encoding": "rot13"},
        {"time_format": "%Y"},
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        Reading(**wrong)


@pytest.mark.slow
def test_two_million_rows_are_read_in_bounded_memory_at_a_steady_speed(tmp_path: Path) -> None:
    path = tmp_path / "long.csv.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("t,name,y\n")
        file.writelines(f"{row},name {row},{row % 7}\n" for row in range(2_000_000))
    rows = open_rows(str(path)).rows
    sizes, seconds = [], []
    for _ in range(10):
        start = time.process_time()
        for _ in itertools.islice(rows, 200_000):
            pass
        seconds.append(time.process_time() - start)
        sizes.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE"))
    assert next(rows, None) is None
    assert max(sizes) < sizes[0] + (8 << 20)
    assert seconds[-1] < 2 * seconds[0]
