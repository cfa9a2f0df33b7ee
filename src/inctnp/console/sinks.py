"""Where records go: the standard output, JSON lines, CSV or Parquet."""

import csv
import json
import math
import re
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import IO, Any

from inctnp.atomic import write_atomically
from inctnp.errors import ConfigError, StorageError
from inctnp.report import Record

FIELDS = ("row", "y", "mean", "std", "lower", "upper", "log_score")
ROW = re.compile(rb'(?:\{"row": )?(\d+),')
"""What the lines of both kinds begin with."""
BATCH = 1024
"""Records that a Parquet file collects before it writes."""


class Sink(ABC):
    """Takes records in their order."""

    lasting = True
    """Whether a record that was put is still there if nobody comes to close."""

    @abstractmethod
    def put(self, record: Record) -> None: ...

    @abstractmethod
    def close(self) -> None:
        """After the last record; what was put is then there to be read."""


class JSONLines(Sink):
    """One object a line, there to be read as soon as it was put."""

    def __init__(self, file: IO[str], keyed: bool) -> None:
        self._file, self._keyed = file, keyed

    def put(self, record: Record) -> None:
        self._file.write(json.dumps(as_fields(record, self._keyed)) + "\n")
        self._file.flush()

    def close(self) -> None:
        if self._file is not sys.stdout:
            self._file.close()


class CSV(Sink):
    """A header and a line a record, there to be read as soon as it was put."""

    def __init__(self, file: IO[str], keyed: bool) -> None:
        self._file, self._keyed = file, keyed
        self._writer = csv.writer(file, lineterminator="\n")
        if not file.tell():
            self._writer.writerow([*FIELDS, *(["key"] * keyed)])

    def put(self, record: Record) -> None:
        self._writer.writerow(as_fields(record, self._keyed).values())
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class Parquet(Sink):
    """Appears when it is closed, because the format ends in its table of contents."""

    lasting = False

    def __init__(self, path: Path, keyed: bool, known: int) -> None:
        pa, pq = _pyarrow()
        numbers = [(name, pa.int64() if name == "row" else pa.float64()) for name in FIELDS]
        self._schema = pa.schema([*numbers, *([("key", pa.string())] * keyed)])
        self._path, self._keyed, self._batch = path, keyed, list[dict[str, Any]]()
        self._part = path.with_name(f".{path.name}.part")
        self._writer: Any = pq.ParquetWriter(self._part, self._schema)
        if known and path.exists():
            self._copy(pq.ParquetFile(path), known)

    def put(self, record: Record) -> None:
        self._batch.append(as_fields(record, self._keyed))
        if len(self._batch) >= BATCH:
            self._write()

    def close(self) -> None:
        self._write()
        self._writer.close()
        write_atomically(self._path, self._part.replace)

    def _write(self) -> None:
        pa, _ = _pyarrow()
        if self._batch:
            self._writer.write_table(pa.Table.from_pylist(self._batch, self._schema))
            self._batch.clear()

    def _copy(self, before: Any, known: int) -> None:
        """The file as it was, without rows that were not known yet."""
        for batch in before.iter_batches(BATCH):
            rows = batch.column("row").to_pylist()
            self._writer.write_batch(batch.slice(0, sum(row <= known for row in rows)))


def open_sink(path: Path | None, keyed: bool, known: int = 0) -> Sink:
    """What writes to a path, chosen by its ending; None is the standard output.

    Where `known` rows were taken in earlier calls, their records stay, and what was written after them goes.
    """
    if path is None:
        return JSONLines(sys.stdout, keyed)
    kinds = {".jsonl": JSONLines, ".ndjson": JSONLines, ".json": JSONLines, ".csv": CSV}
    ending = path.suffix.lower()
    if ending != ".parquet" and ending not in kinds:
        raise ConfigError(f"{path} ends in {ending or 'nothing'!r}: .jsonl, .csv and .parquet are what can be written.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if ending == ".parquet":
            return Parquet(path, keyed, known)
        if known and path.exists():
            _truncate(path, known)
        file = path.open("a" if known else "w", encoding="utf-8", newline="")
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}.") from error
    return kinds[ending](file, keyed)


def as_fields(record: Record, keyed: bool) -> dict[str, Any]:
    """The record as it is written; nine digits are more than any of it is known to.

    >>> as_fields(Record(1, 2.0, 1 / 3, 1.0, -1.0, 1.5, None), keyed=False)
    {'row': 1, 'y': 2.0, 'mean': 0.333333333, 'std': 1.0, 'lower': -1.0, 'upper': 1.5, 'log_score': None}
    """
    fields: dict[str, Any] = {"row": record.row, "y": record.y}
    for name in FIELDS[2:]:
        value = getattr(record, name)
        fields[name] = float(f"{value:.9g}") if value is not None and math.isfinite(value) else None
    return fields | {"key": record.key} if keyed else fields


def _truncate(path: Path, known: int) -> None:
    """Cut off the records of later rows, and one that was not written to its end."""
    with path.open("rb+") as file:
        kept = 0
        for line in file:
            row = ROW.match(line)
            if not line.endswith(b"\n") or (row and int(row[1]) > known):
                break
            kept += len(line)
        file.truncate(kept)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ConfigError("Parquet takes pyarrow: `pip install inctnp[data]`, or write .jsonl or .csv.") from error
    return pa, pq
