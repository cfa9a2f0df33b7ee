"""How wrong a forecaster of numbers has been lately, as a distribution of its next error."""

import math
from dataclasses import dataclass, field

import numpy as np

FACTORS = np.array([0.1, 0.35, 0.8, 1.6, 4.0])
"""Standard deviations of the parts, in units of the running scale: errors with many small and a few large ones fit.

One more part is as wide as the outcomes themselves: a stream may jump, and who was right before may be right again.
"""
PRIOR = np.array([0.02, 0.13, 0.5, 0.29, 0.05, 0.01])
PRIOR_ROWS = 5.0
FROM_ABSOLUTE = math.sqrt(math.pi / 2)
"""The standard deviation of a normal distribution in units of its mean absolute value."""
LEAST = 1e-6
"""Scale of a forecaster that was never wrong, in units of the outcomes."""


@dataclass
class Spread:
    """A mixture of zero-mean Gaussians, its scale and shape from past errors that fade.

    >>> spread = Spread()
    >>> for error in (1.0, -1.0, 0.5): spread.learn(error, 1.0)
    >>> weights, stddevs = spread.parts(1.0)
    >>> len(weights), round(sum(weights), 9)
    (6, 1.0)
    """

    memory: float = 0.98
    """What is left of a row's weight after another row."""
    rows: float = 0.0
    absolute: float = 0.0
    """Weighted sum of absolute errors."""
    shape: np.ndarray = field(default_factory=lambda: PRIOR * PRIOR_ROWS)

    def scale(self, unit: float) -> float:
        """One row of an error of `unit` is counted in."""
        return max(FROM_ABSOLUTE * (self.absolute + 0.5 * unit) / (self.rows + 0.5), LEAST * unit)

    def parts(self, unit: float) -> tuple[list[float], list[float]]:
        """Weights and standard deviations."""
        return (self.shape / self.shape.sum()).tolist(), self._stddevs(unit).tolist()

    def learn(self, error: float, unit: float) -> None:
        scale = self._stddevs(unit)
        fit = np.log(self.shape / scale) - 0.5 * (error / scale) ** 2
        share = np.exp(fit - fit.max())
        # The prior rows never fade: shares stay positive.
        self.shape = self.memory * self.shape + (1 - self.memory) * PRIOR * PRIOR_ROWS + share / share.sum()
        self.rows = self.memory * self.rows + 1
        self.absolute = self.memory * self.absolute + abs(error)

    def copy(self) -> "Spread":
        return Spread(self.memory, self.rows, self.absolute, self.shape)

    def _stddevs(self, unit: float) -> np.ndarray:
        return np.append(FACTORS * self.scale(unit), unit)
