"""Intervals for those who predict a number only: from the errors they made on rows they had not learned yet."""

import math

from inctnp.predictive.plain import PlainMixture
from inctnp.regressor.spread import Spread

ANY_SCALE = PlainMixture((0.3, 0.25, 0.2, 0.13, 0.08, 0.04), (0.0,) * 6, (1.0, 10.0, 1e2, 1e3, 1e4, 1e5))
"""What anybody expects of the first outcome of all."""


class Residuals:
    """A mixture of Gaussians around a forecast, its scale and shape from past errors, of which older ones fade.

    By the rule that our regressor uses for its own linear forecast, so that no rival loses by a poorer width.
    """

    def __init__(self) -> None:
        self._spread = Spread()
        self.rows, self.mean, self._squares = 0, 0.0, 0.0

    def around(self, forecast: float) -> PlainMixture:
        """The predictive of an outcome that is forecast to be this."""
        if not self.rows:
            return ANY_SCALE
        weights, stddevs = self._spread.parts(self.unit)
        return PlainMixture(weights, [forecast] * len(weights), stddevs)

    def learn(self, forecast: float, y: float) -> None:
        if self.rows:
            self._spread.learn(y - forecast, self.unit)
        self.rows += 1
        step = y - self.mean
        self.mean += step / self.rows
        self._squares += step * (y - self.mean)

    @property
    def deviation(self) -> float:
        """Of all outcomes so far; 1 until they have varied."""
        spread = math.sqrt(max(self._squares, 0.0) / max(self.rows, 1))
        return spread if spread > 1e-9 * abs(self.mean) else 1.0

    @property
    def unit(self) -> float:
        """Their deviation, or a guess at it while there is none."""
        spread = math.sqrt(max(self._squares, 0.0) / max(self.rows, 1))
        return spread if spread > 1e-9 * abs(self.mean) else 0.1 * abs(self.mean) or 1.0
