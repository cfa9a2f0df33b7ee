"""Corrections of predictive distributions that follow from how past ones did, and from nothing else.

A correction turns a mixture into a mixture, so mean, quantiles, density and distribution function stay those of one
distribution.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from inctnp.predictive.plain import PlainMixture

MEMORY = 0.995
"""What is left of a past row after another row."""


class Correction(ABC):
    """Learns from predictions as they were before it corrected them."""

    @abstractmethod
    def of(self, mixture: PlainMixture) -> PlainMixture:
        """The corrected distribution."""

    @abstractmethod
    def learn(self, mixture: PlainMixture, y: float) -> None:
        """Take in what came true of an uncorrected distribution."""

    def state(self) -> dict[str, Any]:
        return vars(self)

    def copy(self) -> Self:
        return type(self)(**vars(self))


@dataclass
class Unchanged(Correction):
    """Takes predictions as they are."""

    def of(self, mixture: PlainMixture) -> PlainMixture:
        return mixture

    def learn(self, mixture: PlainMixture, y: float) -> None:
        pass


FACTORS = np.geomspace(0.3, 3.3, 17)
"""Stretchings that are tried; the one in the middle changes nothing."""
BELIEF = 10.0
"""Rows of evidence for no change at all."""
WORST = 20.0
"""A single row tells no more than this against a stretching."""


@dataclass
class Temperature(Correction):
    """Stretches distributions about their mean by the factor that would have suited past rows best."""

    scores: np.ndarray = field(default_factory=lambda: np.zeros(len(FACTORS)))
    """Fading sums of log-densities under each factor."""

    @property
    def factor(self) -> float:
        logs = np.log(FACTORS)
        scores = self.scores - BELIEF * logs**2
        best = int(np.clip(scores.argmax(), 1, len(scores) - 2))
        before, here, after = scores[best - 1 : best + 2]
        bend = before - 2 * here + after
        # The top of the parabola through the best three.
        off = float(np.clip(0.5 * (before - after) / bend, -1.0, 1.0)) if bend < 0 else 0.0
        return float(np.exp(logs[best] + off * (logs[1] - logs[0])))

    def of(self, mixture: PlainMixture) -> PlainMixture:
        center, factor = mixture.mean, self.factor
        means = [center + factor * (mean - center) for mean in mixture.means]
        return PlainMixture(mixture.weights, means, [factor * std for std in mixture.stddevs])

    def learn(self, mixture: PlainMixture, y: float) -> None:
        weights, means, stddevs = np.array([mixture.weights, mixture.means, mixture.stddevs])
        # Stretching the distribution is shrinking the outcome's distance.
        at = mixture.mean + (y - mixture.mean) / FACTORS[:, None]
        terms = np.log(np.maximum(weights, TINY)) - np.log(stddevs) - 0.5 * ((at - means) / stddevs) ** 2
        scores = np.logaddexp.reduce(terms, axis=1) - np.log(FACTORS)
        self.scores = MEMORY * self.scores + np.maximum(scores - scores.max(), -WORST)


TINY = 1e-300
NEWEST = 256
"""Past rows whose outcomes say where quantiles lie."""
PARTS = 20
"""Of the corrected distribution, each of the same probability."""
OUTER = 0.5
"""Beyond the outermost distances known, in units of theirs from the median."""
ENOUGH = 40.0
"""Rows from which past distances count more than the original."""
INNER = (0.1, 0.9)
"""Levels whose quantiles are the unit in which outcomes are measured: tails of a mixture may be anything."""


@dataclass
class Conformal(Correction):
    """Moves quantiles to where past outcomes fell.

    An outcome is measured by its distance from the middle of its prediction in units of the prediction's width. The
    newest of these distances, put around the next prediction, are its distribution: one Gaussian for every twentieth of
    them, and a rest of the original, the larger the fewer rows are known.
    """

    distances: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def of(self, mixture: PlainMixture) -> PlainMixture:
        rows = len(self.distances)
        if not rows:
            return mixture
        middle, unit = _measure(mixture)
        # So many distances cut the line into one piece more; the outer two reach beyond all.
        inner = np.sort(self.distances)
        ends = inner[[0, -1]] + OUTER * (inner[[0, -1]] - np.median(inner))
        known = np.concatenate([ends[:1], inner, ends[1:]])
        places = np.interp(np.linspace(0.0, 1.0, 2 * PARTS + 1), np.linspace(0.0, 1.0, rows + 2), known)
        widths = np.maximum(places[2::2] - places[:-2:2], LEAST_WIDTH)
        rest = ENOUGH / (ENOUGH + rows)
        return PlainMixture(
            [rest * weight for weight in mixture.weights] + [(1 - rest) / PARTS] * PARTS,
            [*mixture.means, *(middle + unit * places[1::2]).tolist()],
            [*mixture.stddevs, *(unit * widths / SQUARE).tolist()],
        )

    def learn(self, mixture: PlainMixture, y: float) -> None:
        middle, unit = _measure(mixture)
        self.distances = np.append(self.distances, (y - middle) / unit)[-NEWEST:]


def _measure(mixture: PlainMixture) -> tuple[float, float]:
    low, high = (mixture.quantile(level) for level in INNER)
    return 0.5 * (low + high), max(high - low, min(mixture.stddevs))


SQUARE = np.sqrt(12.0)
"""Length of an interval over the standard deviation of a uniform distribution on it."""
LEAST_WIDTH = 1e-3
"""Of a part: equal distances must not make a spike."""

CORRECTIONS: dict[str, type[Correction]] = {
    "none": Unchanged,
    "temperature": Temperature,
    "conformal": Conformal,
}
