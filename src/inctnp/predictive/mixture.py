"""Mixtures of Gaussians: a heavier-tailed head, an average over orders, the marginals of joint draws.  (Eq. 8)"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from inctnp.predictive.base import HALF_LOG_2PI, Predictive, Values, standard_quantile

BISECTIONS = 80
"""Halvings of the bracket around a quantile: more than float64 can tell apart."""


@dataclass(frozen=True, eq=False)
class Mixture(Predictive):
    """A weighted sum of normal distributions for each output; the first axis counts the parts.

    >>> p = Mixture(torch.tensor([[0.5], [0.5]]).log(), torch.tensor([[-1.0], [1.0]]), torch.ones(2, 1))
    >>> p.mean.item(), p.variance.item(), abs(p.quantile(0.5).item()) < 1e-6
    (0.0, 2.0, True)
    """

    log_weights: Values
    means: Values
    stddevs: Values

    @property
    def mean(self) -> Values:
        return (self.log_weights.exp() * self.means).sum(dim=0)

    @property
    def variance(self) -> Values:
        # Around the mean, not E[y²] - E[y]²: the latter cancels when the parts agree.
        spread = self.stddevs**2 + (self.means - self.mean) ** 2
        return (self.log_weights.exp() * spread).sum(dim=0)

    @property
    def stddev(self) -> Values:
        return self.variance.sqrt()

    def log_prob(self, y: Values) -> Values:
        z = (y - self.means) / self.stddevs
        return torch.logsumexp(self.log_weights - 0.5 * z**2 - self.stddevs.log() - HALF_LOG_2PI, dim=0)

    def cdf(self, y: Values) -> Values:
        return (self.log_weights.exp() * torch.special.ndtr((y - self.means) / self.stddevs)).sum(dim=0)

    def crps(self, y: Values) -> Values:
        weights = self.log_weights.exp()
        to_outcome = (weights * _mean_distance(y - self.means, self.stddevs)).sum(dim=0)
        between = torch.zeros_like(to_outcome)
        for weight, mean, std in zip(weights, self.means, self.stddevs, strict=True):
            scale = torch.hypot(std.expand_as(self.stddevs), self.stddevs)
            between = between + weight * (weights * _mean_distance(mean - self.means, scale)).sum(dim=0)
        return to_outcome - 0.5 * between

    def quantile(self, level: float) -> Values:
        """By bisection between the least and the largest quantile of the parts, which bracket it."""
        z = standard_quantile(level)
        edges = self.means + z * self.stddevs
        low, high = edges.amin(dim=0), edges.amax(dim=0)
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            below = self.cdf(middle) < level
            low, high = torch.where(below, middle, low), torch.where(below, high, middle)
        return 0.5 * (low + high)

    def sample(self, generator: torch.Generator | None = None) -> Values:
        like = self.means[0]
        noise = torch.randn(like.shape, generator=generator, dtype=like.dtype, device=like.device)
        level = torch.rand(like.shape, generator=generator, dtype=like.dtype, device=like.device)
        cumulative = self.log_weights.expand_as(self.means).exp().cumsum(dim=0)
        # Rounding may leave the last sum below one.
        part = (level > cumulative).sum(dim=0, keepdim=True).clamp(max=len(self.means) - 1)
        return (self.means.gather(0, part) + self.stddevs.gather(0, part) * noise).squeeze(0)

    def components(self) -> tuple[Values, Values, Values]:
        return self.log_weights, self.means, self.stddevs

    def reshape(self, change: Callable[[Tensor], Tensor]) -> Self:
        parts = (self.log_weights.expand_as(self.means), self.means, self.stddevs)
        return type(self)(*(torch.stack([change(part) for part in tensor]) for tensor in parts))

    def affine(self, shift: Tensor | float, scale: Tensor | float) -> Self:
        return type(self)(self.log_weights, shift + scale * self.means, scale * self.stddevs)


def mixture_of(predictives: Sequence[Predictive]) -> Mixture:
    """The equal-weight mixture of several predictives of the same points."""
    parts = [predictive.components() for predictive in predictives]
    log_weights, means, stddevs = (torch.cat(tensors) for tensors in zip(*parts, strict=True))
    return Mixture(log_weights - math.log(len(predictives)), means, stddevs)


def mixture_over_first_axis(predictive: Predictive) -> Mixture:
    """The equal-weight mixture over the first axis of the points, for instance over draws."""
    log_weights, means, stddevs = predictive.components()
    count = means.shape[1]
    return Mixture(log_weights.flatten(0, 1) - math.log(count), means.flatten(0, 1), stddevs.flatten(0, 1))


def _mean_distance(offset: Tensor, scale: Tensor) -> Tensor:
    """E|X| for X normal with this mean and standard deviation."""
    z = offset / scale
    return scale * (z * (2 * torch.special.ndtr(z) - 1) + 2 * torch.exp(-0.5 * z**2 - HALF_LOG_2PI))
