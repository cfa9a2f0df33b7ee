"""The context of models that must look at all points again whenever one arrives."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import torch
from torch import Tensor

from inctnp.transformer.cache import Cache


@dataclass(eq=False)
class KeptPoints:
    """The points themselves, and the encoding the first question about them needed."""

    x: Tensor
    y: Tensor
    _encoded: Cache | None = field(default=None, repr=False)

    @property
    def batch(self) -> torch.Size:
        return self.x.shape[:-2]

    def __len__(self) -> int:
        return self.x.shape[-2]

    @property
    def nbytes(self) -> int:
        return self.x.nbytes + self.y.nbytes + (self._encoded.nbytes if self._encoded else 0)

    def truncate(self, points: int) -> Self:
        return type(self)(self.x[..., :points, :], self.y[..., :points, :])

    def extended(self, x: Tensor, y: Tensor) -> Self:
        return type(self)(torch.cat([self.x, x], dim=-2), torch.cat([self.y, y], dim=-2))

    def repeated(self, draws: int) -> Self:
        """The same points for each of several draws."""
        return replace(
            self, x=self.x.expand(draws, *self.x.shape), y=self.y.expand(draws, *self.y.shape), _encoded=None
        )

    def encoding(self, encode: Callable[[Tensor, Tensor], Cache]) -> Cache:
        """Encode once and answer many questions; with gradients on, afresh each time, for a graph is used once."""
        if torch.is_grad_enabled():
            return encode(self.x, self.y)
        if self._encoded is None:
            self._encoded = encode(self.x, self.y)
        return self._encoded

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return {}, {"x": self.x.contiguous(), "y": self.y.contiguous()}


def no_points(batch: torch.Size, dim_x: int, dim_y: int, like: Tensor) -> KeptPoints:
    """A context of no points."""
    return KeptPoints(like.new_empty(*batch, 0, dim_x), like.new_empty(*batch, 0, dim_y))
