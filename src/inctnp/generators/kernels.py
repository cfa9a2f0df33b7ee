"""Stationary covariance functions of the 1-D tasks, evaluated for many tasks at once.  (Eq. 48-52)"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

PERIOD = 2.0
"""p of the periodic kernel: two full oscillations over [-2, 2]."""


def rbf(distance: Tensor, lengthscale: Tensor) -> Tensor:
    """Infinitely smooth."""
    return torch.exp(-0.5 * (distance / lengthscale) ** 2)


def matern12(distance: Tensor, lengthscale: Tensor) -> Tensor:
    """Continuous, nowhere smooth."""
    return torch.exp(-distance / lengthscale)


def matern32(distance: Tensor, lengthscale: Tensor) -> Tensor:
    """Once differentiable."""
    r = math.sqrt(3.0) * distance / lengthscale
    return (1 + r) * torch.exp(-r)


def matern52(distance: Tensor, lengthscale: Tensor) -> Tensor:
    """Twice differentiable."""
    r = math.sqrt(5.0) * distance / lengthscale
    return (1 + r + r**2 / 3) * torch.exp(-r)


def periodic(distance: Tensor, lengthscale: Tensor) -> Tensor:
    """With the lengthscale squared, as in the paper; GPyTorch's has it to the first power."""
    return torch.exp(-2 * (torch.sin(math.pi * distance / PERIOD) / lengthscale) ** 2)


FAMILIES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "rbf": rbf,
    "matern12": matern12,
    "matern32": matern32,
    "matern52": matern52,
    "periodic": periodic,
}
NAMES = tuple(FAMILIES)
MIXED = NAMES
"""The paper's mixed setting draws one of all five."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Kernel:
    """One unit-variance kernel per task of a batch."""

    family: Int[Tensor, " batch"]
    """Index into `NAMES`."""
    lengthscale: Float[Tensor, " batch"]

    def __call__(
        self, x1: Float[Tensor, "batch row 1"], x2: Float[Tensor, "batch column 1"]
    ) -> Float[Tensor, "batch row column"]:
        distance = (x1 - x2.mT).abs()
        scale = self.lengthscale.to(distance.dtype)[:, None, None]
        present = self.family.unique().tolist()
        if len(present) == 1:
            return FAMILIES[NAMES[present[0]]](distance, scale)
        covariance = torch.empty_like(distance)
        for index in present:
            rows = self.family == index
            covariance[rows] = FAMILIES[NAMES[index]](distance[rows], scale[rows])
        return covariance


def draw_kernel(
    families: tuple[str, ...],
    lengthscales: tuple[float, float],
    batch_size: int,
    shared: bool,
    rng: torch.Generator,
) -> Kernel:
    """A family and a log-uniform lengthscale, one for the batch (`shared`) or one per task."""
    count = 1 if shared else batch_size
    low, high = map(math.log, lengthscales)
    family = torch.tensor([NAMES.index(name) for name in families])[
        torch.randint(len(families), (count,), generator=rng)
    ]
    lengthscale = torch.exp(low + (high - low) * torch.rand(count, generator=rng, dtype=torch.float64))
    return Kernel(family=family.expand(batch_size), lengthscale=lengthscale.expand(batch_size))
