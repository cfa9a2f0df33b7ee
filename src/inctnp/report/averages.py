"""Averages along a stream of any length in bounded room."""

from collections.abc import Sequence

import numpy as np

MOST = 512
"""Stretches held: when there are more, neighbours become one."""


class Averages:
    """Means of several quantities over stretches of equally many rows.

    >>> averages = Averages(1)
    >>> for value in range(1024):
    ...     averages.add([value])
    >>> rows, means = averages.stretches(4)
    >>> rows.tolist(), means[:, 0].tolist()
    ([256, 512, 768, 1024], [127.5, 383.5, 639.5, 895.5])
    """

    def __init__(self, quantities: int) -> None:
        self.width = 1
        """Rows of a stretch."""
        self.rows = 0
        self._sums = np.zeros((MOST, quantities))
        self._counts = np.zeros((MOST, quantities))

    def add(self, values: Sequence[float]) -> None:
        """One row; NaN where a quantity is not known."""
        if self.rows == MOST * self.width:
            for held in (self._sums, self._counts):
                held[: MOST // 2] = held[0::2] + held[1::2]
                held[MOST // 2 :] = 0
            self.width *= 2
        stretch = self.rows // self.width
        for place, value in enumerate(values):
            if value == value:
                self._sums[stretch, place] += value
                self._counts[stretch, place] += 1
        self.rows += 1

    def stretches(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """The number of the last row of at most so many stretches, and the means, [stretch, quantity]."""
        used = -(-self.rows // self.width)
        edges = np.unique(np.linspace(0, used, min(most, used) + 1).round().astype(int))[:-1]
        ends = np.append(edges[1:], used) * self.width
        return np.minimum(ends, self.rows), self._divided(edges)

    def so_far(self) -> tuple[np.ndarray, np.ndarray]:
        """The means of all rows up to the end of each stretch."""
        used = -(-self.rows // self.width)
        ends = np.minimum(np.arange(1, used + 1) * self.width, self.rows)
        with np.errstate(invalid="ignore", divide="ignore"):
            return ends, self._sums[:used].cumsum(axis=0) / self._counts[:used].cumsum(axis=0)

    def _divided(self, edges: np.ndarray) -> np.ndarray:
        if not len(edges):
            return np.empty((0, self._sums.shape[1]))
        used = -(-self.rows // self.width)
        sums, counts = (np.add.reduceat(held[:used], edges, axis=0) for held in (self._sums, self._counts))
        with np.errstate(invalid="ignore", divide="ignore"):
            divided: np.ndarray = sums / counts
        return divided
