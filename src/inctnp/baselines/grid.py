"""A regular grid of inducing points and the weights that interpolate between them: structured kernel interpolation."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError, UnknownNameError


def linear(distance: Tensor) -> Tensor:
    """The hat function: weights of the two nearest points."""
    return (1 - distance).clamp(min=0)


def cubic(distance: Tensor) -> Tensor:
    """Cubic convolution over the four nearest points: exact for parabolas, with a continuous slope.  (Keys, 1981)"""
    near = (1.5 * distance - 2.5) * distance**2 + 1
    far = ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
    return torch.where(distance <= 1, near, torch.where(distance < 2, far, torch.zeros_like(distance)))


INTERPOLATIONS: dict[str, Callable[[Tensor], Tensor]] = {"linear": linear, "cubic": cubic}
"""Weight of a grid point as a function of its distance, in grid steps."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """`size` points along each of `dims` inputs, one step beyond the bounds on either side.

    The extra step gives cubic interpolation its four neighbours everywhere; inputs outside are moved to the bound.

    >>> grid = Grid(size=16, dims=2, bounds=(-1.0, 1.0))
    >>> weights = grid.weights(torch.zeros(3, 2).double())
    >>> grid.count, weights.shape, torch.allclose(weights.sum(dim=-1), torch.ones(3).double())
    (256, torch.Size([3, 256]), True)
    """

    size: int
    dims: int
    bounds: tuple[float, float]
    interpolation: str = "cubic"

    def __post_init__(self) -> None:
        if self.interpolation not in INTERPOLATIONS:
            known = ", ".join(INTERPOLATIONS)
            raise UnknownNameError(f"No interpolation is called {self.interpolation!r}: choose from {known}.")
        if self.size < 4 or self.dims < 1 or not self.bounds[0] < self.bounds[1]:
            raise ConfigError(f"A grid needs 4 points, 1 input and bounds (low, high), not {self}.")

    @property
    def count(self) -> int:
        return self.size**self.dims

    @property
    def step(self) -> float:
        return (self.bounds[1] - self.bounds[0]) / (self.size - 3)

    def points(self) -> Float[Tensor, "count dims"]:
        """Where the inducing points are, the last input changing fastest."""
        axis = self.bounds[0] + self.step * (torch.arange(self.size, dtype=torch.float64) - 1)
        return torch.stack(torch.meshgrid(*[axis] * self.dims, indexing="ij"), dim=-1).flatten(0, -2)

    def weights(self, x: Float[Tensor, "*batch point dims"]) -> Float[Tensor, "*batch point count"]:
        """W: each row rebuilds the function at a point from its values on the grid."""
        place = (x.clamp(*self.bounds) - self.bounds[0]) / self.step + 1
        distance = (place.unsqueeze(-1) - torch.arange(self.size, dtype=x.dtype)).abs()
        along = INTERPOLATIONS[self.interpolation](distance)
        weights = along[..., 0, :]
        for axis in range(1, self.dims):
            weights = (weights.unsqueeze(-1) * along[..., axis, None, :]).flatten(-2)
        return weights
