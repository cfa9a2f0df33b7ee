"""What every prediction can be asked, whatever its shape."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)

Values = Float[Tensor, "*point dim_y"]
"""One number for every output of every point."""


class Predictive(ABC):
    """Independent one-dimensional distributions, one for each output of each point."""

    @property
    @abstractmethod
    def mean(self) -> Values: ...

    @property
    @abstractmethod
    def variance(self) -> Values: ...

    @property
    @abstractmethod
    def stddev(self) -> Values: ...

    @abstractmethod
    def log_prob(self, y: Values) -> Values:
        """Log-density of each output on its own; sum over the last two axes for that of all points."""

    @abstractmethod
    def cdf(self, y: Values) -> Values: ...

    @abstractmethod
    def crps(self, y: Values) -> Values:
        """Continuous ranked probability score: the absolute error of a distribution; smaller is better."""

    @abstractmethod
    def quantile(self, level: float) -> Values:
        """The value below which the outcome falls with probability `level`."""

    @abstractmethod
    def sample(self, generator: torch.Generator | None = None) -> Values:
        """One draw of every output."""

    @abstractmethod
    def components(self) -> tuple[Values, Values, Values]:
        """Log-weights, means and standard deviations as a mixture of Gaussians, the parts on a first axis."""

    @abstractmethod
    def reshape(self, change: Callable[[Tensor], Tensor]) -> Self:
        """The same distributions with the axes of points changed, as by `lambda t: t[..., 0, :]`."""

    @abstractmethod
    def affine(self, shift: Tensor | float, scale: Tensor | float) -> Self:
        """The distribution of `shift + scale · y`, for a positive scale."""

    def interval(self, level: float) -> tuple[Values, Values]:
        """The central interval that holds the outcome with probability `level`."""
        tail = (1 - level) / 2
        return self.quantile(tail), self.quantile(1 - tail)


def side_by_side(predictives: Sequence[Predictive]) -> Predictive:
    """Predictives of one kind, for some points each, as one for all of these points."""
    parts = [[getattr(p, field.name) for field in fields(p)] for p in predictives]  # type: ignore[arg-type]
    return type(predictives[0])(*(torch.cat(same, dim=-2) for same in zip(*parts, strict=True)))


def standard_quantile(level: float) -> float:
    """The quantile of the standard normal distribution."""
    if not 0 <= level <= 1:
        raise ConfigError(f"A level is a probability between 0 and 1, not {level}.")
    return torch.special.ndtri(torch.tensor(level, dtype=torch.float64)).item()
