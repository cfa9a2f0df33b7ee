"""Interpolated Gaussian processes on sufficient statistics: work and memory depend on the grid, not on the data.

With W the interpolation weights and K the covariance of the grid, the covariance of the observations is W K Wᵀ + σ²I.
By Woodbury's identity the posterior of the grid values is

    Q = C (I + Cᵀ WᵀW C / σ²)⁻¹ Cᵀ   (covariance),      Q Wᵀy / σ²   (mean),      K = C Cᵀ,

so all that has to be kept of the data is WᵀW, Wᵀy, yᵀy and their number. With the root of K on both sides nothing
that is inverted has an eigenvalue below one, however often an input is repeated.
"""

import math
from dataclasses import dataclass
from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.predictive.gaussian import Gaussian

JITTER = 1e-8
"""Added to the diagonal of K, relative to it: a fine grid under a smooth kernel is singular to rounding."""
LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class Statistics:
    """Everything an interpolated process remembers of its data; of a fixed size."""

    gram: Float[Tensor, "*batch grid grid"]
    """WᵀW."""
    moment: Float[Tensor, "*batch grid"]
    """Wᵀy."""
    square: Float[Tensor, "*batch"]
    """yᵀy."""
    count: int

    def add(self, weights: Float[Tensor, "*batch point grid"], y: Float[Tensor, "*batch point 1"]) -> Self:
        """The statistics with more points: O(m²) for each, whatever came before."""
        return type(self)(
            self.gram + weights.mT @ weights,
            self.moment + (weights.mT @ y).squeeze(-1),
            self.square + y.square().sum(dim=(-2, -1)),
            self.count + y.shape[-2],
        )

    @property
    def nbytes(self) -> int:
        return self.gram.nbytes + self.moment.nbytes + self.square.nbytes


def no_statistics(batch: torch.Size, grid: int) -> Statistics:
    """Of no data."""
    zeros = torch.zeros(*batch, grid, grid, dtype=torch.float64)
    return Statistics(zeros, zeros.new_zeros(*batch, grid), zeros.new_zeros(batch), 0)


@dataclass(frozen=True, eq=False)
class GridPosterior:
    """What the statistics say about the function on the grid, under given hyperparameters."""

    statistics: Statistics
    noise: Float[Tensor, "*batch"]
    """Variance σ² of the observations."""
    half: Float[Tensor, "*batch grid grid"]
    """A root of the posterior covariance, as R⁻¹Cᵀ: Q = halfᵀ half."""
    log_det: Float[Tensor, "*batch"]
    """Of I + Cᵀ WᵀW C / σ²."""

    @property
    def mean(self) -> Float[Tensor, "*batch grid"]:
        moment = self.statistics.moment.unsqueeze(-1)
        return (self.half.mT @ (self.half @ moment)).squeeze(-1) / self.noise.unsqueeze(-1)

    def predict(self, weights: Float[Tensor, "*batch target grid"]) -> Gaussian:
        """Each noisy target on its own."""
        mean = weights @ self.mean.unsqueeze(-1)
        variance = (self.half @ weights.mT).square().sum(dim=-2) + self.noise.unsqueeze(-1)
        return Gaussian(mean, variance.sqrt().unsqueeze(-1))

    def log_marginal(self) -> Float[Tensor, "*batch"]:
        """Log-density of all data under the prior."""
        seen, noise = self.statistics, self.noise
        explained = (self.half @ seen.moment.unsqueeze(-1)).square().sum(dim=(-2, -1)) / noise
        fit = (seen.square - explained) / noise
        return -0.5 * (fit + seen.count * (noise.log() + LOG_2PI) + self.log_det)


def condition(
    statistics: Statistics, covariance: Float[Tensor, "*batch grid grid"], noise: Float[Tensor, "*batch"]
) -> GridPosterior:
    """Condition the grid on the data: one factorisation of grid size, O(m³) however many points were seen."""
    diagonal = covariance.diagonal(dim1=-2, dim2=-1)
    root = torch.linalg.cholesky(covariance + JITTER * torch.diag_embed(diagonal))
    identity = torch.eye(covariance.shape[-1], dtype=covariance.dtype)
    inner = identity + root.mT @ statistics.gram @ root / noise[..., None, None]
    factor = torch.linalg.cholesky(inner)
    half = torch.linalg.solve_triangular(factor, root.mT, upper=False)
    return GridPosterior(statistics, noise, half, 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1))
