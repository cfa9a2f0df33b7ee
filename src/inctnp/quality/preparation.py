"""What a rival is shown: the same features as our network, as numbers, and scaled by what is known when it is asked."""

from dataclasses import dataclass, field

import numpy as np

from inctnp.regressor.columns import Row
from inctnp.regressor.features import Features

CLIP = 4.0
"""Standard deviations from the mean at which features are clipped."""


class SameFeatures:
    """Numbers, phases of moments, texts as codes and mean outcomes, and lagged outcomes, as our regressor makes them.

    All but the forecast it gives itself as an input. What is not known is NaN. The columns are those of the first row.
    """

    def __init__(self, lags: tuple[int, ...]) -> None:
        self._features = Features(lags, recency=False)
        self._raw = np.zeros(0)

    def of(self, row: Row) -> np.ndarray:
        """Features of the row that comes next."""
        if not len(self._features.columns):
            self._features.columns.meet(row)
        columns = self._features.columns
        for name in columns.names:
            # Texts never seen before.
            columns.meet({name: row.get(name)})
        self._raw = columns.read([row])[0]
        values = np.where(self._features.active(), self._features.of(self._raw), np.nan)
        return values[1:]

    def learn(self, y: float) -> None:
        """The outcome of the row asked last."""
        self._features.learn(self._raw, y)


@dataclass
class RunningScale:
    """Clipped z-scores by the running mean and deviation of each column.

    >>> scale = RunningScale()
    >>> [scale.take(np.array([value])).round(3).tolist() for value in (1.0, 3.0, np.nan)]
    [[0.0], [1.0], [0.0]]
    """

    count: np.ndarray = field(default_factory=lambda: np.zeros(1))
    mean: np.ndarray = field(default_factory=lambda: np.zeros(1))
    squares: np.ndarray = field(default_factory=lambda: np.zeros(1))

    def take(self, values: np.ndarray) -> np.ndarray:
        """Include a row, then scale it; what is missing or has not varied becomes 0, the mean."""
        known = ~np.isnan(values)
        self.count = self.count + known
        step = np.where(known, values - self.mean, 0.0)
        self.mean = self.mean + step / np.maximum(self.count, 1)
        self.squares = self.squares + step * np.where(known, values - self.mean, 0.0)
        away = np.where(known, values - self.mean, 0.0)
        return np.clip(np.divide(away, self.deviation, out=np.zeros_like(away), where=self.deviation > 0), -CLIP, CLIP)

    @property
    def deviation(self) -> np.ndarray:
        return np.sqrt(self.squares / np.maximum(self.count, 1))


@dataclass(frozen=True)
class WindowScale:
    """Clipped z-scores by the mean and deviation of a window of rows."""

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> "WindowScale":
        known = ~np.isnan(rows)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, rows, 0.0).sum(axis=0) / count
        squares = (np.where(known, rows - mean, 0.0) ** 2).sum(axis=0)
        return cls(mean, np.sqrt(squares / count))

    def apply(self, rows: np.ndarray) -> np.ndarray:
        away = np.where(np.isnan(rows), 0.0, rows - self.mean)
        return np.clip(np.divide(away, self.deviation, out=np.zeros_like(away), where=self.deviation > 0), -CLIP, CLIP)
