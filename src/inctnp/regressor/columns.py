"""From values as people have them to numbers: columns that appear when they like, of any type.

A value is a number (booleans are), a moment, a text or missing. The first value of a column that is not missing decides
which of these the column holds; what does not fit counts as missing.
"""

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Self

import numpy as np

from inctnp.errors import DataError

NUMBER, MOMENT, TEXT = "number", "moment", "text"
MOST_CATEGORIES = 1024
"""Texts of a column that are told apart; later ones count as one, so that names of things do not fill the memory."""
UNSEEN = -1.0
"""The code of a text that has none."""
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

Row = Mapping[str, Any]
Raw = np.ndarray
"""Numbers of rows, [row, column]: texts as codes, moments as seconds, what is missing as NaN."""


@dataclass
class Columns:
    """Columns in the order in which they appeared; those of a later stream come after, so a prefix stays valid."""

    kinds: dict[str, str] = field(default_factory=dict)
    codes: dict[str, dict[str, int]] = field(default_factory=dict)
    """Codes of the texts of each column of texts, in order of appearance."""

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def names(self) -> list[str]:
        return list(self.kinds)

    def meet(self, row: Row) -> None:
        """Take note of columns and texts not seen before."""
        for name, value in row.items():
            kind = self.kinds.get(name)
            if kind == NUMBER:
                continue
            if kind is None:
                found = kind_of(name, value)
                if found is None:
                    continue
                kind = self.kinds[name] = found
            if kind == TEXT and kind_of(name, value) is not None:
                codes = self.codes.setdefault(name, {})
                if len(codes) < MOST_CATEGORIES:
                    codes.setdefault(str(value), len(codes))

    def read(self, rows: Sequence[Row]) -> Raw:
        """Rows as numbers, without taking note of anything."""
        raw = np.full((len(rows), len(self.kinds)), np.nan)
        for i, row in enumerate(rows):
            for j, (name, kind) in enumerate(self.kinds.items()):
                value = row.get(name)
                if value is not None:
                    raw[i, j] = self._number(name, kind, value)
        return raw

    def copy(self) -> "Columns":
        return Columns(dict(self.kinds), {name: dict(codes) for name, codes in self.codes.items()})

    def state(self) -> dict[str, Any]:
        # Pairs, because the order of columns is that of features, and files may sort names.
        return {"kinds": list(self.kinds.items()), "codes": {name: list(codes) for name, codes in self.codes.items()}}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        codes = {name: {text: i for i, text in enumerate(texts)} for name, texts in state["codes"].items()}
        return cls(dict(state["kinds"]), codes)

    def _number(self, name: str, kind: str, value: Any) -> float:
        if kind == NUMBER and type(value) is float:
            return value if math.isfinite(value) else math.nan
        found = kind_of(name, value)
        if found is None:
            return math.nan
        if kind == TEXT:
            # Numbers among texts are texts; a text among numbers is nothing.
            return self.codes[name].get(str(value), UNSEEN)
        return _NUMBERS[kind](value) if found == kind else math.nan


def kind_of(name: object, value: Any) -> str | None:
    """What a value is, or None if it is missing."""
    if value is None:
        return None
    if isinstance(value, str):
        return TEXT if value else None
    if isinstance(value, (int, float, np.number, np.bool_, Decimal)):
        return NUMBER if math.isfinite(value) else None
    if isinstance(value, (dt.date, np.datetime64)):
        return None if str(value) == "NaT" else MOMENT
    if str(value) in ("<NA>", "NaT"):
        return None
    raise DataError(
        f"Column {name!r} holds {value!r}, a {type(value).__name__}: a number, a text, a date or None was expected."
    )


def _seconds(value: Any) -> float:
    """Since 1970, in UTC; a moment without a zone is taken as UTC."""
    if isinstance(value, np.datetime64):
        return float((value - np.datetime64(0, "s")) / np.timedelta64(1, "s"))
    moment = value if isinstance(value, dt.datetime) else dt.datetime(value.year, value.month, value.day)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return (moment - EPOCH).total_seconds()


_NUMBERS: dict[str, Callable[[Any], float]] = {NUMBER: float, MOMENT: _seconds}
