"""Tables with a header and a delimiter: CSV, TSV and their relatives."""

import csv
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from inctnp.errors import DataError
from inctnp.rows.reading import Reading
from inctnp.rows.refusals import Refuse
from inctnp.rows.text import Lines
from inctnp.rows.values import Value, moment_reader, text_of, value_of, value_with_comma

DELIMITERS = ",;\t|"
NAMES = {",": "','", ";": "';'", "\t": "a tab ($'\\t')", "|": "'|'"}

Numbered = tuple[int, dict[str, Value]]


def read_delimited(lines: Lines, reading: Reading, name: str, refuse: Refuse) -> tuple[list[str], Iterator[Numbered]]:
    """The columns, and the rows with the numbers of their lines."""
    first = next((line for line in lines if line.strip()), "")
    if not first:
        raise DataError(f"{name} is empty: a header line with the names of the columns was expected.")
    delimiter = reading.delimiter or sniff(first)
    reader = csv.reader(itertools.chain([first], lines), delimiter=delimiter)
    try:
        header = [column.strip() for column in next(reader)]
    except csv.Error as error:
        raise DataError(f"The header of {name} cannot be read: {error}. Lines should end in a line feed.") from error
    columns = [column or f"column_{place}" for place, column in enumerate(header, start=1)]
    _check_header(columns, first, delimiter, name)
    return columns, _rows(lines, reader, columns, reading, refuse)


def sniff(header: str) -> str:
    """The delimiter of a header: the candidate that cuts it into most columns.

    >>> sniff('a;"b,c,d";e')
    ';'
    """
    return max(DELIMITERS, key=re.sub('"[^"]*"', "", header).count)


def _check_header(columns: list[str], line: str, delimiter: str, name: str) -> None:
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        places = [str(place) for place, column in enumerate(columns, start=1) if column == twice[0]]
        raise DataError(
            f"{name} has {len(places)} columns called {twice[0]!r} (places {', '.join(places)}): "
            "give each its own name."
        )
    better = sniff(line)
    if len(columns) == 1 and better != delimiter and better in line:
        raise DataError(
            f"With the delimiter {delimiter!r}, {name} has one column, {columns[0]!r}. It looks as if columns were "
            f"separated by {NAMES[better]}: give --delimiter {NAMES[better]}, or leave the option out."
        )
    if all(isinstance(value_of(column), float) for column in columns):
        raise DataError(
            f"The first line of {name} holds numbers only ({line.strip()[:60]!r}), so there is no header. "
            "Put a line with the names of the columns in front of it."
        )


def _rows(lines: Lines, reader: Any, columns: list[str], reading: Reading, refuse: Refuse) -> Iterator[Numbered]:
    kept = [(at, column, _convert(column, reading)) for at, column in enumerate(columns) if column not in reading.drop]
    width = len(columns)
    while True:
        line = lines.number + 1
        try:
            fields = next(reader, None)
            if fields and len(fields) != width:
                raise DataError(_ragged(line, fields, width, reader.dialect.delimiter))
            row = {column: convert(fields[at]) for at, column, convert in kept} if fields else None
        except DataError as error:
            refuse(error)
            continue
        except csv.Error as error:
            refuse(DataError(f"Line {line}: {error}. A quotation mark without its partner does this."))
            continue
        except (ValueError, OverflowError) as error:
            refuse(DataError(f"Line {line}: {error}."))
            continue
        if fields is None:
            return
        if row is not None:
            yield line, row


def _convert(column: str, reading: Reading) -> Callable[[str], Value]:
    if column in reading.as_text:
        return text_of
    if column == reading.time:
        return moment_reader(reading.time_format)
    return value_with_comma if reading.decimal == "," else value_of


def _ragged(line: int, fields: list[str], width: int, delimiter: str) -> str:
    return f"Line {line} has {len(fields)} values where the header has {width}: {delimiter.join(fields)[:60]!r}."
