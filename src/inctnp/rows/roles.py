"""Which column is what: the outcome, the name of the stream, everything else."""

import difflib
import math
from collections.abc import Iterator
from dataclasses import dataclass

from inctnp.errors import DataError
from inctnp.rows.read import Table
from inctnp.rows.refusals import Refuse, stop
from inctnp.rows.values import Value


@dataclass(frozen=True)
class Example:
    """A row ready to be predicted, and to be learned if its outcome is known."""

    line: int
    """Where it came from."""
    row: dict[str, Value]
    """What it is predicted from: neither the outcome nor the key."""
    y: float | None
    """The outcome; None where it is not known."""
    key: str | None = None
    """Which of many streams it belongs to."""


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The columns with a part of their own.

    >>> roles = Roles(target="y", key="line")
    >>> next(roles.examples(Table("a table", None, iter([(1, {"t": 3.0, "line": "A", "y": 2.0})]))))
    Example(line=1, row={'t': 3.0}, y=2.0, key='A')
    """

    target: str
    key: str | None = None
    labelled: bool = True
    """Whether a target is expected at all; where it is not, it is ignored if there."""

    def check(self, columns: tuple[str, ...] | None, others: tuple[str, ...] = ()) -> None:
        """Refuse a table whose header lacks a column that was named."""
        if columns is None:
            return
        named = [self.target] * self.labelled + [self.key] * (self.key is not None) + list(others)
        for name in named:
            if name is not None and name not in columns:
                raise DataError(f"There is no column {name!r}{_nearest(name, columns)}.")

    def examples(self, table: Table, refuse: Refuse = stop) -> Iterator[Example]:
        """Rows taken apart; those with an outcome that is no number go to `refuse`."""
        for line, row in table.rows:
            try:
                example = self._example(line, row)
            except DataError as error:
                refuse(error)
                continue
            yield example

    def _example(self, line: int, row: dict[str, Value]) -> Example:
        key = row.get(self.key) if self.key is not None else None
        if self.key is not None and key is None:
            raise DataError(f"Line {line} has no {self.key!r}, so it belongs to no stream.")
        y = row.get(self.target) if self.labelled else None
        if y is not None and not (isinstance(y, float) and math.isfinite(y)):
            hint = " If the comma is the decimal sign, give --decimal ','." if "," in str(y) else ""
            raise DataError(
                f"Line {line}: {self.target!r} is {str(y)!r}; a finite number, or nothing, was expected.{hint}"
            )
        inputs = {name: value for name, value in row.items() if name != self.target and name != self.key}
        return Example(line, inputs, y, None if key is None else str(key))


def _nearest(name: str, columns: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, columns, n=1)
    shown = ", ".join(columns[:12]) + (", …" if len(columns) > 12 else "")
    return f" (did you mean {near[0]!r}?); there are {shown}" if near else f"; there are {shown}"
