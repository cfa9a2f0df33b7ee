"""Several forecasters answer together, each weighted by how well it has done lately."""

from dataclasses import dataclass
from typing import Any

import numpy as np

MEMORY = 0.98
"""What is left of a past log score after another row."""
SHARE = 0.01
"""Weight handed out anew in equal parts after every row, so that nobody is lost for ever."""
LEAST = 1e-300


@dataclass
class Blend:
    """Weights from fading log scores, by Bayes' rule with a fixed share.

    >>> blend = Blend.of(2)
    >>> blend.learn(np.array([0.0, -3.0])); bool(blend.weights[0] > 0.9)
    True
    """

    weights: np.ndarray

    @classmethod
    def of(cls, forecasters: int) -> "Blend":
        return cls(np.full(forecasters, 1 / forecasters))

    def learn(self, scores: np.ndarray) -> None:
        """Take in the log-density each gave to what came; NaN for one that did not answer."""
        answered = ~np.isnan(scores)
        if not answered.any():
            return
        # One that did not answer is taken to have done as the others did.
        together = np.logaddexp.reduce(np.log(self.weights[answered]) + scores[answered])
        together -= np.log(self.weights[answered].sum())
        gained = MEMORY * np.log(self.weights) + np.where(answered, scores, together)
        weights = np.maximum(np.exp(gained - gained.max()), LEAST)
        self.weights = (1 - SHARE) * weights / weights.sum() + SHARE / len(weights)

    def shares(self, answered: np.ndarray) -> np.ndarray:
        """Weights among those who answer."""
        weights = np.where(answered, self.weights, 0.0)
        return weights / weights.sum()

    def copy(self) -> "Blend":
        return Blend(self.weights)

    def state(self) -> dict[str, Any]:
        return vars(self)
