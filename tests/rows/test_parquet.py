"""Parquet files."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest

from inctnp.errors import DataError
from inctnp.rows import Reading, open_rows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def stored(folder: Path, **columns: object) -> str:
    path = folder / "no-suffix"
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_values_keep_their_types(tmp_path: Path) -> None:
    noon = dt.datetime(2024, 1, 2, 12, tzinfo=dt.UTC)
    path = stored(
        tmp_path,
        a=pa.array([1, None]),
        b=pa.array([True, False]),
        c=pa.array(["x", "x"]).dictionary_encode(),
        d=pa.array([noon, noon], pa.timestamp("ns", tz="UTC")),
        e=pa.array([dt.date(2024, 1, 2), None]),
        f=pa.array([Decimal("1.50"), None]),
        g=pa.array([float("nan"), 2.0]),
        h=pa.array([1, 2], pa.duration("ns")),
    )
    (first, row), (second, other) = open_rows(path).rows
    assert (first, second) == (1, 2)
    assert row == {
        "a": 1.0,
        "b": 1.0,
        "c": "x",
        "d": noon,
        "e": dt.datetime(2024, 1, 2),
        "f": 1.5,
        "g": None,
        "h": 0.0,
    }
    assert other["a"] is other["e"] is None


def test_only_a_batch_is_held_however_long_the_file(tmp_path: Path) -> None:
    path = stored(tmp_path, y=pa.array(range(3000)))
    assert [row["y"] for _, row in open_rows(path).rows] == list(range(3000))


def test_dropped_columns_are_not_read_and_names_are_text(tmp_path: Path) -> None:
    path = stored(tmp_path, id=[7], gone=[[1, 2]], y=[1.0])
    with pytest.raises(DataError, match="--drop gone"):
        open_rows(path)
    reading = Reading(drop=frozenset({"gone"}), as_text=frozenset({"id"}))
    assert list(open_rows(path, reading).rows) == [(1, {"id": "7", "y": 1.0})]


def test_a_damaged_file_and_an_empty_one_are_named(tmp_path: Path) -> None:
    (tmp_path / "half").write_bytes(b"PAR1 and then nothing of the kind")
    with pytest.raises(DataError, match="damaged"):
        open_rows(str(tmp_path / "half"))
    with pytest.raises(DataError, match="no rows"):
        list(open_rows(stored(tmp_path, y=pa.array([], pa.float64()))).rows)
    with pytest.raises(DataError, match="pipe"):
        open_rows("-", Reading(format="parquet"))
