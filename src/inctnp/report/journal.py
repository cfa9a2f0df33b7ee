"""What is remembered of a stream for its report: bounded, however long it runs."""

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from inctnp.report.averages import Averages
from inctnp.report.record import Record

FIRST, LAST = 120, 240
"""Rows kept one by one, from the beginning and from the end."""
PIT_BINS = 100
LATENCY_BINS, LEAST_SECONDS, DECADES = 400, 1e-6, 8
SCORE, SQUARED, INSIDE, SECONDS, WIDTH, LAST_VALUE, BESIDE_IT = QUANTITIES = range(7)


@dataclass
class Journal:
    """Told of every record; asked by the report."""

    level: float = 0.9
    """Of the intervals in the records."""
    first: list[Record] = field(default_factory=list)
    last: deque[Record] = field(default_factory=lambda: deque(maxlen=LAST))
    averages: Averages = field(default_factory=lambda: Averages(len(QUANTITIES)))
    """Along the stream: log score, squared error, inside the interval, seconds, width, the squared error that
    repeating the last outcome would have made, and the squared error of the same rows: a first row has none before."""
    pit: np.ndarray = field(default_factory=lambda: np.zeros(PIT_BINS, int))
    """Outcomes by where in their distribution they fell."""
    latency: np.ndarray = field(default_factory=lambda: np.zeros(LATENCY_BINS, int))
    """Rows by the logarithm of the seconds they took."""
    rows: int = 0
    outcomes: int = 0
    """Rows whose outcome was known."""
    keys: set[str] = field(default_factory=set)
    shown: str | None = None
    """The stream whose rows are kept one by one, where there are many."""
    _before: dict[str | None, float] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """One more row."""
        self.rows += 1
        if record.key is not None:
            self.shown = record.key if self.shown is None else self.shown
            if len(self.keys) < 100_000:
                self.keys.add(record.key)
        if record.key == self.shown:
            (self.first if len(self.first) < FIRST else self.last).append(record)
        log_seconds = math.log10(max(record.seconds, LEAST_SECONDS) / LEAST_SECONDS)
        self.latency[min(int(log_seconds * LATENCY_BINS / DECADES), LATENCY_BINS - 1)] += 1
        self.averages.add(self._quantities(record))

    def latency_below(self, share: float) -> float:
        """The seconds that this share of the rows did not exceed, to about 5 %."""
        if not self.rows:
            return math.nan
        place = int(np.searchsorted(self.latency.cumsum(), share * self.latency.sum()))
        return float(LEAST_SECONDS * 10 ** ((place + 0.5) * DECADES / LATENCY_BINS))

    def total(self, quantity: int) -> float:
        """The mean of a quantity over all rows where it is known."""
        _, means = self.averages.so_far()
        return float(means[-1, quantity]) if len(means) else math.nan

    def coverage(self, level: float) -> float:
        """How often central intervals of this level held the outcome, read off the PIT."""
        if not self.outcomes:
            return math.nan
        edge = (1 - level) / 2 * PIT_BINS
        shares = np.concatenate([[0], self.pit.cumsum()]) / self.pit.sum()
        low, high = np.interp([edge, PIT_BINS - edge], np.arange(PIT_BINS + 1), shares)
        return float(high - low)

    def _quantities(self, record: Record) -> list[float]:
        if record.y is None or record.log_score is None:
            return [math.nan, math.nan, math.nan, record.seconds, record.upper - record.lower, math.nan, math.nan]
        self.outcomes += 1
        if record.pit is not None:
            self.pit[min(max(int(record.pit * PIT_BINS), 0), PIT_BINS - 1)] += 1
        before = self._before.get(record.key, math.nan)
        # The streams beyond some thousands share one memory of the last value: it is a yardstick, not a prediction.
        self._before[record.key if len(self._before) < 10_000 else None] = record.y
        return [
            record.log_score,
            (record.y - record.mean) ** 2,
            float(record.lower <= record.y <= record.upper),
            record.seconds,
            record.upper - record.lower,
            (record.y - before) ** 2,
            math.nan if math.isnan(before) else (record.y - record.mean) ** 2,
        ]
