"""Simple forecasters that stand beside the network: a linear regression, the last value, and next to no opinion."""

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from inctnp.regressor.linear import OnlineRidge
from inctnp.regressor.spread import Spread

Mixed = tuple[list[float], list[float], list[float]]
"""Weights, means and standard deviations of a mixture of Gaussians."""
ANY_SCALE = ([0.3, 0.25, 0.2, 0.13, 0.08, 0.04], [1.0, 10.0, 1e2, 1e3, 1e4, 1e5])
"""What is expected of a first outcome, whose unit nobody knows."""
WIDE = ([0.6, 0.3, 0.1], [1.0, 4.0, 20.0])
"""What is expected later by a forecaster that knows only centre and spread."""


@dataclass(frozen=True)
class Opinion:
    """Point forecasts for a row, as they were when it was asked."""

    linear: float
    stretch: float
    """How many times wider than usual the error of the linear forecast may be."""
    last: float


@dataclass
class Forecasters:
    """All of them see one row after the other."""

    linear: OnlineRidge = field(default_factory=OnlineRidge)
    linear_spread: Spread = field(default_factory=Spread)
    last_spread: Spread = field(default_factory=Spread)
    rows: int = 0
    last: float = 0.0
    mean: float = 0.0
    squares: float = 0.0
    """Summed squared distance of the outcomes from their mean."""

    NAMES = ("linear", "last value", "any value")

    def opinion(self, features: np.ndarray, active: np.ndarray) -> Opinion:
        """`features` without the advice, which is made here."""
        value, stretch = self.linear.forecast(features, active)
        return Opinion(value, stretch, self.last)

    def answers(self, opinion: Opinion) -> list[Mixed | None]:
        """A distribution from each, or nothing from those who have seen nothing."""
        unit = self.unit
        if not self.rows:
            weights, scales = ANY_SCALE
            return [None, None, (weights, [0.0] * len(weights), scales)]
        answers: list[Mixed | None] = []
        for point, stretch, spread in (
            (opinion.linear, opinion.stretch, self.linear_spread),
            (opinion.last, 1.0, self.last_spread),
        ):
            weights, stddevs = spread.parts(unit)
            answers.append((weights, [point] * len(weights), [stretch * each for each in stddevs]))
        weights, scales = WIDE
        # Outcomes that lie closer to the one before than to their mean will go on from where they are.
        center = opinion.last if self.last_spread.scale(unit) < unit else self.mean
        answers.append((weights, [center] * len(weights), [unit * each for each in scales]))
        return answers

    def learn(self, features: np.ndarray, opinion: Opinion, y: float) -> None:
        if self.rows:
            unit = self.unit
            self.linear_spread.learn((y - opinion.linear) / opinion.stretch, unit)
            self.last_spread.learn(y - opinion.last, unit)
        self.linear.learn(features, y)
        self.rows += 1
        self.last = y
        step = y - self.mean
        self.mean += step / self.rows
        self.squares += step * (y - self.mean)

    @property
    def unit(self) -> float:
        """The spread of the outcomes, or a guess at it where they have not varied."""
        spread = math.sqrt(max(self.squares, 0.0) / max(self.rows, 1))
        guess = 0.1 * abs(self.mean)
        if spread > 1e-9 * abs(self.mean):
            # Two rows may lie close by chance: the guess fades with their number.
            return math.sqrt((self.rows * spread**2 + min(guess, spread * 10) ** 2) / (self.rows + 1))
        return guess or 1.0

    def state(self) -> dict[str, Any]:
        parts = (self.linear, self.linear_spread, self.last_spread)
        return {**vars(self), **dict(zip(_PARTS, map(vars, parts), strict=True))}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        parts = {name: kind(**state[name]) for name, kind in _PARTS.items()}
        return cls(**{**state, **parts})

    def copy(self) -> "Forecasters":
        return Forecasters(
            self.linear.copy(),
            self.linear_spread.copy(),
            self.last_spread.copy(),
            self.rows,
            self.last,
            self.mean,
            self.squares,
        )


_PARTS: dict[str, Any] = {"linear": OnlineRidge, "linear_spread": Spread, "last_spread": Spread}
