"""One way into every format."""

from collections.abc import Iterator
from dataclasses import dataclass

from inctnp.errors import DataError
from inctnp.rows.delimited import Numbered, read_delimited
from inctnp.rows.json_lines import read_json_lines
from inctnp.rows.parquet import MAGIC, read_parquet
from inctnp.rows.reading import Reading
from inctnp.rows.refusals import Refuse, stop
from inctnp.rows.source import STDIN, Stopped, open_bytes
from inctnp.rows.text import BOM, Lines

AS_IT_LOOKS = Reading()


@dataclass(frozen=True)
class Table:
    """Rows that can be walked through once."""

    name: str
    columns: tuple[str, ...] | None
    """Of the header, dropped ones included; None where each row names its own."""
    rows: Iterator[Numbered]
    """Numbers of lines, counted from 1 and the header included, and the rows themselves."""


def open_rows(
    path: str,
    reading: Reading = AS_IT_LOOKS,
    refuse: Refuse = stop,
    stopped: Stopped = lambda: False,
) -> Table:
    """Open a file, or the standard input for `-`; broken rows go to `refuse`.

    `stopped` is asked while input is awaited; once it says yes, `InterruptedReading` is raised.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("t;y\\n1;2.5\\n2;NA\\n")
    >>> list(open_rows(str(path)).rows)
    [(2, {'t': 1.0, 'y': 2.5}), (3, {'t': 2.0, 'y': None})]
    """
    name = "The standard input" if path == STDIN else path
    if reading.format == "parquet":
        return _parquet(path, reading, refuse)
    source = open_bytes(path, stopped)
    start = source.peek(4)
    if not start:
        raise DataError(f"{name} is empty: rows were expected.")
    if reading.format is None and start.startswith(MAGIC):
        source.close()
        return _parquet(path, reading, refuse)
    lines = Lines(source, reading.encoding, name)
    if (reading.format or _looks(start)) == "jsonl":
        return Table(name, None, _some(read_json_lines(lines, reading, refuse), f"{name} holds no rows."))
    columns, rows = read_delimited(lines, reading, name, refuse)
    return Table(name, tuple(columns), _some(rows, f"{name} holds a header ({_listed(columns)}) and no rows."))


def _parquet(path: str, reading: Reading, refuse: Refuse) -> Table:
    columns, rows = read_parquet(path, reading, refuse)
    return Table(path, tuple(columns), _some(rows, f"{path} holds columns ({_listed(columns)}) and no rows."))


def _looks(start: bytes) -> str:
    return "jsonl" if start.removeprefix(BOM).lstrip()[:1] in (b"{", b"[") else "csv"


def _some(rows: Iterator[Numbered], otherwise: str) -> Iterator[Numbered]:
    """The rows, or an error if there are none."""
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise DataError(otherwise)


def _listed(columns: list[str]) -> str:
    shown = ", ".join(columns[:6])
    return f"{shown}, …" if len(columns) > 6 else shown
