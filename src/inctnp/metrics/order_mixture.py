"""Densities of all targets under predictions made in several orders, alone and mixed.  (Eq. 8)"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.predictive.base import Predictive
from inctnp.predictive.mixture import Mixture

LOG_2PI = math.log(2 * math.pi)
Draws = Float[Tensor, "draw *batch target dim_y"]


@dataclass(frozen=True, eq=False)
class OrderMixture:
    """One product of independent predictives per order, their targets in the canonical order; in float64.

    Float64 because gaps subtract two log-densities that agree to about six digits.
    """

    log_weights: Float[Tensor, "order component *batch target dim_y"]
    means: Float[Tensor, "order component *batch target dim_y"]
    stddevs: Float[Tensor, "order component *batch target dim_y"]

    def __len__(self) -> int:
        return len(self.means)

    def order(self, index: int) -> Mixture:
        """The predictive of one order."""
        return Mixture(self.log_weights[index], self.means[index], self.stddevs[index])

    def draw(self, index: int, count: int, generator: torch.Generator | None) -> Draws:
        """Samples of all targets from one order."""
        parts = (part[index].unsqueeze(1) for part in (self.log_weights, self.means, self.stddevs))
        return Mixture(*(part.expand(-1, count, *part.shape[2:]) for part in parts)).sample(generator)

    def log_prob_each(self, values: Draws) -> Float[Tensor, "order draw *batch"]:
        """Log-density of each sample under each order."""
        values = values.double()
        if self.means.shape[1] == 1:
            return self._gaussian_log_prob(values)
        each = [[self.order(g).log_prob(value).sum(dim=(-2, -1)) for value in values] for g in range(len(self))]
        return torch.stack([torch.stack(row) for row in each])

    def log_prob(self, values: Draws) -> Float[Tensor, " draw *batch"]:
        """Log-density of each sample under the equal mixture of all orders."""
        return torch.logsumexp(self.log_prob_each(values), dim=0) - math.log(len(self))

    def _gaussian_log_prob(self, values: Draws) -> Float[Tensor, "order draw *batch"]:
        """Sums of squares as one matrix product: every sample meets every order without a tensor of both."""
        means, stddevs = self.means.squeeze(1), self.stddevs.squeeze(1)
        # Around their centre, for the square of a difference is taken apart.
        centre = means.mean(dim=0)
        y = _points_last(values - centre)
        mu, precision = _points_last(means - centre), _points_last(stddevs).square().reciprocal()
        quadratic = y.square() @ precision.mT - 2 * y @ (precision * mu).mT
        constant = (precision * mu.square() - precision.log() + LOG_2PI).sum(dim=-1)
        return (-0.5 * (quadratic + constant.unsqueeze(-2))).movedim((-1, -2), (0, 1))


def collect(predictives: Iterable[Predictive]) -> OrderMixture:
    """Predictives of the same targets, one per order."""
    parts = [[part.double() for part in predictive.components()] for predictive in predictives]
    weights, means, stddevs = (torch.stack(list(part)) for part in zip(*parts, strict=True))
    return OrderMixture(weights.expand_as(means), means, stddevs)


def _points_last(points: Float[Tensor, "row *batch target dim_y"]) -> Float[Tensor, "*batch row number"]:
    return points.flatten(-2).movedim(0, -2)
