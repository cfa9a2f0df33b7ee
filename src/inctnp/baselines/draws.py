"""Coherent draws of several points, and the distribution of each on its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.predictive.base import Predictive, Values


@dataclass(frozen=True, eq=False)
class ProcessDraws(Predictive):
    """What `joint_sample` answers: draws of all points, and as a predictive each point on its own."""

    draws: Float[Tensor, "draw *point dim_y"]
    marginals: Predictive

    @property
    def mean(self) -> Values:
        return self.marginals.mean

    @property
    def variance(self) -> Values:
        return self.marginals.variance

    @property
    def stddev(self) -> Values:
        return self.marginals.stddev

    def log_prob(self, y: Values) -> Values:
        return self.marginals.log_prob(y)

    def cdf(self, y: Values) -> Values:
        return self.marginals.cdf(y)

    def crps(self, y: Values) -> Values:
        return self.marginals.crps(y)

    def quantile(self, level: float) -> Values:
        return self.marginals.quantile(level)

    def sample(self, generator: torch.Generator | None = None) -> Values:
        """One of the draws, so that the points stay coherent."""
        return self.draws[int(torch.randint(len(self.draws), (), generator=generator))]

    def components(self) -> tuple[Values, Values, Values]:
        return self.marginals.components()

    def reshape(self, change: Callable[[Tensor], Tensor]) -> Self:
        return type(self)(torch.stack([change(draw) for draw in self.draws]), self.marginals.reshape(change))

    def affine(self, shift: Tensor | float, scale: Tensor | float) -> Self:
        return type(self)(shift + scale * self.draws, self.marginals.affine(shift, scale))
