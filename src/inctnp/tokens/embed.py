"""Points become tokens: [x, y, 0] where the output is known, [x, 0, 1] where it is asked for."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from inctnp.notation import Tokens
from inctnp.tokens.fourier import FourierFeatures


def mlp(sizes: Sequence[int]) -> nn.Sequential:
    """Linear layers with ReLU between them.

    >>> [type(part).__name__ for part in mlp([2, 8, 1])]
    ['Linear', 'ReLU', 'Linear']
    """
    layers: list[nn.Module] = []
    for size, following in pairwise(sizes):
        layers += [nn.Linear(size, following), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class PointEmbedder(nn.Module):
    """One MLP for both kinds of point, told apart by a flag."""

    def __init__(self, dim_x: int, dim_y: int, width: int, fourier: FourierFeatures | None = None) -> None:
        super().__init__()
        self.dim_y = dim_y
        self.fourier = fourier
        features = dim_x if fourier is None else fourier.size
        self.net = mlp([features + dim_y + 1, width, width, width])

    def seen(
        self, x: Float[Tensor, "batch point dim_x"], y: Float[Tensor, "batch point dim_y"], flag: float = 0.0
    ) -> Tokens:
        """Points whose output is known."""
        return self._embed(x, y, flag)

    def asked(self, x: Float[Tensor, "batch point dim_x"], flag: float = 1.0) -> Tokens:
        """Points whose output is to be predicted."""
        # In the type of the weights: times may come in float64 to a model that is not.
        unknown = torch.zeros(*x.shape[:-1], self.dim_y, dtype=next(self.parameters()).dtype, device=x.device)
        return self._embed(x, unknown, flag)

    def _embed(self, x: Tensor, y: Tensor, flag: float) -> Tokens:
        features = x if self.fourier is None else self.fourier(x)
        told = y.new_full((*x.shape[:-1], 1), flag)
        return self.net(torch.cat([features.to(y.dtype), y, told], dim=-1))
