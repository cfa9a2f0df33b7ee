"""Ridge regression of outcomes on features, one row at a time.

It keeps fading means and co-moments of everything, in the units of the columns; standardisation follows from them, so
that no column needs to be scaled beforehand, and a coefficient is never tied to statistics of another time.
"""

from dataclasses import dataclass, field

import numpy as np

CLIP = 4.0
"""Features further than this many standard deviations from their mean are taken to be there."""
RIDGE = 1.0
"""Rows' worth of belief that a coefficient is zero."""


def _nothing() -> np.ndarray:
    return np.zeros(1)


@dataclass
class OnlineRidge:
    """Place 0 of every statistic is the outcome, the features follow."""

    memory: float = 0.999
    """What is left of a row's weight after another row."""
    rows: float = 0.0
    mean: np.ndarray = field(default_factory=_nothing)
    comoment: np.ndarray = field(default_factory=lambda: np.zeros((1, 1)))
    seen: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=bool))
    """Whether there was a value yet."""

    def forecast(self, features: np.ndarray, active: np.ndarray) -> tuple[float, float]:
        """The expected outcome of a row, and how many times wider than usual its error may be."""
        count = len(self.mean) - 1
        if self.rows < 1 or not count:
            return float(self.mean[0]), 1.0
        deviation = np.sqrt(np.diag(self.comoment) / self.rows)
        use = np.flatnonzero((deviation[1:] > 1e-12 * np.abs(self.mean[1:])) & active[:count]) + 1
        if not len(use):
            return float(self.mean[0]), 1.0
        std = deviation[use]
        z = self._standardised(features[use - 1], use, std)
        square = self.comoment[use[:, None], use] / (self.rows * std[:, None] * std)
        square.flat[:: len(use) + 1] += RIDGE / self.rows
        right = np.stack([self.comoment[0, use] / (self.rows * std), z], axis=1)
        answer = np.linalg.solve(square, right)
        leverage = max(float(z @ answer[:, 1]), 0.0) / self.rows
        return float(self.mean[0] + z @ answer[:, 0]), float(np.sqrt(1 + leverage))

    def learn(self, features: np.ndarray, y: float) -> None:
        """A row that was asked before a column appeared lacks its features: they count as missing."""
        self._make_room(len(features) + 1)
        values = np.full(len(self.mean), np.nan)
        values[0], values[1 : len(features) + 1] = y, features
        known = ~np.isnan(values)
        first = known & ~self.seen
        self.mean[first] = values[first]
        self.seen |= known
        deviation = np.sqrt(np.diag(self.comoment) / max(self.rows, 1.0))
        reach = np.where(deviation > 0, CLIP * deviation, np.inf) if self.rows > 2 * CLIP else np.inf
        step = np.clip(np.where(known, values - self.mean, 0.0), -reach, reach)
        self.rows = self.memory * self.rows + 1
        self.mean += step / self.rows
        self.comoment = self.memory * self.comoment + (1 - 1 / self.rows) * np.multiply.outer(step, step)

    def copy(self) -> "OnlineRidge":
        return OnlineRidge(self.memory, self.rows, self.mean.copy(), self.comoment, self.seen.copy())

    def _standardised(self, features: np.ndarray, use: np.ndarray, std: np.ndarray) -> np.ndarray:
        z = (features - self.mean[use]) / std
        return np.clip(np.where(np.isnan(z), 0.0, z), -CLIP, CLIP)

    def _make_room(self, size: int) -> None:
        more = size - len(self.mean)
        if more > 0:
            self.mean, self.seen = np.pad(self.mean, (0, more)), np.pad(self.seen, (0, more))
            self.comoment = np.pad(self.comoment, (0, more))
