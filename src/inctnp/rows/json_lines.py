"""One JSON object a line."""

import datetime as dt
import json
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from inctnp.errors import DataError
from inctnp.rows.delimited import Numbered
from inctnp.rows.reading import Reading
from inctnp.rows.refusals import Refuse
from inctnp.rows.text import Lines
from inctnp.rows.values import Value, moment_of, moment_reader, text_of, value_of


def read_json_lines(lines: Lines, reading: Reading, refuse: Refuse) -> Iterator[Numbered]:
    """The rows with the numbers of their lines; columns may come and go."""
    while True:
        try:
            line = next(lines)
            if line.strip():
                yield lines.number, _row(line, reading, lines.number)
        except StopIteration:
            return
        except DataError as error:
            refuse(error)


def _row(line: str, reading: Reading, number: int) -> dict[str, Value]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        hint = " A list of objects is unpacked by `jq -c '.[]'`." if line.lstrip().startswith("[") else ""
        raise DataError(f"Line {number} is not JSON: {error}.{hint}") from error
    if not isinstance(found, dict):
        raise DataError(
            f'Line {number} holds a {type(found).__name__}, not an object like {{"a": 1}}: one object a line was '
            "expected. A list of objects is unpacked by `jq -c '.[]'`."
        )
    try:
        return {name: plain(name, value, reading) for name, value in _flat(found) if name not in reading.drop}
    except (ValueError, OverflowError) as error:
        raise DataError(f"Line {number}: {error}") from error


def _flat(found: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Objects inside objects by their path: {"a": {"b": 1}} has the column a.b."""
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield above + name, value


def plain(name: str, value: Any, reading: Reading) -> Value:
    """A value that arrived with a type of its own, as a value of a row."""
    if value is None:
        return None
    convert = _TYPES.get(type(value))
    if convert is None:
        kind = type(value).__name__
        raise ValueError(f"Column {name!r} holds a {kind}; a number, a text or nothing was expected. Drop it.")
    if name in reading.as_text:
        return text_of(str(value))
    if name == reading.time:
        return moment_reader(reading.time_format)(value) if type(value) is str else moment_of(convert(value))
    return convert(value)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return None if math.isnan(number) else number


_TYPES: dict[type, Callable[[Any], Value]] = {
    str: value_of,
    bool: float,
    int: _number,
    float: _number,
    dt.datetime: lambda moment: moment,
    dt.date: lambda day: dt.datetime(day.year, day.month, day.day),
    dt.time: lambda time: float(time.hour * 3600 + time.minute * 60 + time.second),
    dt.timedelta: lambda span: span.total_seconds(),
    Decimal: _number,
}
