"""Space and time as sines and cosines of many wavelengths.  (Eq. 21-22)"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from inctnp.errors import ConfigError


def wavelengths(shortest: float, longest: float, count: int) -> tuple[float, ...]:
    """Log-spaced from shortest to longest, both included.

    >>> [round(w, 6) for w in wavelengths(1, 100, 3)]
    [1.0, 10.0, 100.0]
    """
    if not 0 < shortest <= longest or count < 2:
        raise ConfigError(f"{count} wavelengths from {shortest} to {longest}: at least two, positive and increasing.")
    low, high = math.log(shortest), math.log(longest)
    return tuple(math.exp(low + (high - low) * i / (count - 1)) for i in range(count))


STATION_WAVELENGTHS = (
    wavelengths(0.001, 2, 16),
    wavelengths(0.001, 2, 16),
    wavelengths(0.1, 8, 16),
    wavelengths(1, 8760, 16),
)
"""The paper's grids for [latitude, longitude, elevation, hours]: 32 features each."""


class FourierFeatures(nn.Module):
    """[cos, sin] of 2 pi x / wavelength, feature by feature.

    The angles are float64 whatever the model's type: hours since an epoch divided by one hour leave float32
    no digits for the phase. For the same reason the grid is no buffer, which a change of type would reach.
    """

    def __init__(self, grids: Sequence[Sequence[float]]) -> None:
        super().__init__()
        if not grids or any(not grid or min(grid) <= 0 for grid in grids):
            raise ConfigError("Fourier features need at least one positive wavelength for every input.")
        self.grids = tuple(torch.tensor(tuple(grid), dtype=torch.float64) for grid in grids)

    @property
    def size(self) -> int:
        """Features per point."""
        return 2 * sum(len(grid) for grid in self.grids)

    def forward(self, x: Float[Tensor, "*batch dim_x"]) -> Float[Tensor, "*batch feature"]:
        parts: list[Tensor] = []
        for column, grid in zip(x.double().unbind(-1), self.grids, strict=True):
            angle = 2 * math.pi * column.unsqueeze(-1) / grid.to(x.device)
            parts += [angle.cos(), angle.sin()]
        return torch.cat(parts, dim=-1).to(x.dtype)
