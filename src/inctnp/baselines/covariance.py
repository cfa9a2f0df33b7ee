"""Covariance functions with a lengthscale per input and a variance, for any batch of tasks."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError
from inctnp.generators.kernels import FAMILIES

LEAST_SQUARED_DISTANCE = 1e-24
"""The square root below has no gradient at zero, where every covariance matrix has its diagonal."""


@dataclass(frozen=True, eq=False)
class ARDKernel:
    """A kernel of `FAMILIES`, stretched along each input on its own.

    >>> kernel = ARDKernel("rbf", torch.ones(2), torch.tensor(3.0))
    >>> kernel(torch.zeros(1, 2), torch.zeros(4, 2)).tolist()
    [[3.0, 3.0, 3.0, 3.0]]
    """

    family: str
    lengthscale: Float[Tensor, "*tasks dim_x"]
    variance: Float[Tensor, "*tasks"]

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise ConfigError(f"No kernel is called {self.family!r}: choose from {', '.join(FAMILIES)}.")
        if self.family == "periodic" and self.lengthscale.shape[-1] != 1:
            raise ConfigError("The periodic kernel is a function of one input: choose another for several.")

    def __call__(
        self, x1: Float[Tensor, "*batch row dim_x"], x2: Float[Tensor, "*batch column dim_x"]
    ) -> Float[Tensor, "*batch row column"]:
        stretch = self.lengthscale.unsqueeze(-2)
        if self.lengthscale.shape[-1] == 1:
            distance, unit = (x1 - x2.mT).abs(), stretch
        else:
            apart = x1.unsqueeze(-2) / stretch.unsqueeze(-2) - x2.unsqueeze(-3) / stretch.unsqueeze(-2)
            distance = (apart**2).sum(dim=-1).clamp(min=LEAST_SQUARED_DISTANCE).sqrt()
            unit = torch.ones_like(self.variance)[..., None, None]
        return self.variance[..., None, None] * FAMILIES[self.family](distance, unit)


def with_noise(covariance: Float[Tensor, "*batch point point"], variance: Tensor | float) -> Tensor:
    """The covariance of noisy observations: `variance` more on the diagonal."""
    level = torch.as_tensor(variance, dtype=covariance.dtype)
    return covariance + level[..., None, None] * torch.eye(covariance.shape[-1], dtype=covariance.dtype)
