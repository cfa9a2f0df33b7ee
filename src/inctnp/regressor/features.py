"""What a regressor looks at in a row: its columns, and what earlier rows add to them.

Features are numbers in units of their own, missing ones NaN, computed when the row is asked about and never again. They
know of a row's past only: a text becomes the mean outcome of the earlier rows that had it.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from inctnp.regressor.columns import MOMENT, NUMBER, TEXT, UNSEEN, Columns

DAY = 86_400.0
PERIODS = {"day": DAY, "week": 7 * DAY, "year": 365.2425 * DAY}
MOST_CODES = 8
"""A column of no more texts than this is a feature as a code, too."""
SHRINKAGE = 4.0
"""Rows of average outcome counted in with each text."""
ADVICE = "advice"

Key = tuple[str, str]
"""A column and what of it; a column without a name is the past of the outcome."""


@dataclass
class TargetMeans:
    """Rows and summed outcomes of each text of a column; the first place is of texts that have no code."""

    rows: np.ndarray = field(default_factory=lambda: np.zeros(1))
    sums: np.ndarray = field(default_factory=lambda: np.zeros(1))

    @property
    def texts(self) -> int:
        """Texts learned."""
        return int((self.rows[1:] > 0).sum())

    def known(self, code: float) -> bool:
        return int(code) + 1 < len(self.rows) and bool(self.rows[int(code) + 1] > 0)

    def of(self, code: float, overall: float) -> float:
        place = int(code) + 1
        if place >= len(self.rows):
            return overall
        return float((self.sums[place] + SHRINKAGE * overall) / (self.rows[place] + SHRINKAGE))

    def add(self, code: float, y: float) -> None:
        place = int(code) + 1
        if place >= len(self.rows):
            more = 2 * place - len(self.rows)
            self.rows, self.sums = np.pad(self.rows, (0, more)), np.pad(self.sums, (0, more))
        self.rows[place] += 1
        self.sums[place] += y

    def copy(self) -> "TargetMeans":
        return TargetMeans(self.rows.copy(), self.sums.copy())


@dataclass
class Features:
    """Turns numbers of a row into features; learns outcomes."""

    lags: tuple[int, ...] = ()
    recency: bool = False
    advice: bool = True
    """Whether the advice means anything to the network; it is a feature in any case."""
    columns: Columns = field(default_factory=Columns)
    rows: int = 0
    mean: float = 0.0
    """Of all outcomes."""
    recent: list[float] = field(default_factory=list)
    """The newest outcomes, the latest last."""
    means: dict[str, TargetMeans] = field(default_factory=dict)
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)
    """First and last moment learned of each column of moments."""

    @property
    def keys(self) -> list[Key]:
        """Names of the features, in order; columns that come later add theirs at the end."""
        keys = [("", ADVICE), *(("", f"lag {lag}") for lag in self.lags)]
        if self.recency:
            keys.append(("", "row"))
        for name, kind in self.columns.kinds.items():
            keys += [(name, part) for part in _PARTS[kind]]
        return keys

    def of(self, raw: np.ndarray) -> np.ndarray:
        """Features of one row; the first, the advice, is left missing."""
        values = [math.nan]
        known = len(self.recent)
        values += [self.recent[-lag] if lag <= known else math.nan for lag in self.lags]
        if self.recency:
            values.append(float(self.rows))
        for number, (name, kind) in zip(raw.tolist(), self.columns.kinds.items(), strict=True):
            if kind == NUMBER:
                values.append(number)
            elif kind == MOMENT:
                values += _moment(number)
            else:
                means, code = self.means.get(name), _code(number)
                # What is missing says as much as a text does; a text that is new says nothing yet.
                values.append(means.of(code, self.mean) if means else self.mean)
                values.append(number if means and code != UNSEEN and means.known(code) else math.nan)
        return np.array(values)

    def active(self) -> np.ndarray:
        """Which features mean something by now: a phase needs a whole period, a code few texts, a mean many."""
        flags = [self.advice] + [True] * (len(self.lags) + self.recency)
        for name, kind in self.columns.kinds.items():
            if kind == NUMBER:
                flags.append(True)
            elif kind == MOMENT:
                first, last = self.spans.get(name, (0.0, 0.0))
                flags.append(True)
                flags += [last - first >= period for period in PERIODS.values() for _ in range(2)]
            else:
                # Counted over rows learned: rows that are only known to come must not change anything.
                texts = self.means[name].texts if name in self.means else 0
                flags += [texts > 2, texts <= MOST_CODES]
        return np.array(flags)

    def learn(self, raw: np.ndarray, y: float) -> None:
        """Take the outcome of a row in."""
        self.rows += 1
        self.mean += (y - self.mean) / self.rows
        if self.lags:
            self.recent.append(y)
            del self.recent[: -max(self.lags)]
        for number, (name, kind) in zip(raw.tolist(), self.columns.kinds.items(), strict=False):
            if kind == TEXT:
                self.means.setdefault(name, TargetMeans()).add(_code(number), y)
            elif kind == MOMENT and not math.isnan(number):
                first, last = self.spans.get(name, (number, number))
                self.spans[name] = (min(first, number), max(last, number))

    def copy(self) -> "Features":
        means = {name: each.copy() for name, each in self.means.items()}
        return replace(self, columns=self.columns.copy(), recent=[*self.recent], means=means, spans={**self.spans})

    def state(self) -> dict[str, Any]:
        return {
            **vars(self),
            "columns": self.columns.state(),
            "means": {name: vars(each) for name, each in self.means.items()},
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        changed = {
            "lags": tuple(state["lags"]),
            "columns": Columns.restore(state["columns"]),
            "means": {name: TargetMeans(**each) for name, each in state["means"].items()},
            "spans": {name: tuple(span) for name, span in state["spans"].items()},
        }
        return cls(**{**state, **changed})


_PARTS = {
    NUMBER: ("",),
    MOMENT: ("elapsed", *(f"{name} {wave}" for name in PERIODS for wave in ("sine", "cosine"))),
    TEXT: ("mean", "code"),
}


def _code(number: float) -> float:
    return UNSEEN if math.isnan(number) else number


def _moment(seconds: float) -> list[float]:
    if math.isnan(seconds):
        return [math.nan] * len(_PARTS[MOMENT])
    values = [seconds]
    for period in PERIODS.values():
        # The remainder first: an angle of millions of turns has lost its digits.
        angle = 2 * math.pi * math.fmod(seconds, period) / period
        values += [math.sin(angle), math.cos(angle)]
    return values
