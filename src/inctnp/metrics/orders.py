"""Orders of points: drawing them, listing them all, and going there and back.

Orders have a first axis that counts them, then the batch: task b of order k sees its points as `order[k, b]` says.
"""

from itertools import permutations

import torch
from jaxtyping import Int
from torch import Tensor

Orders = Int[Tensor, "_ *batch point"]


def random_orders(count: int, shape: torch.Size, generator: torch.Generator | None) -> Orders:
    """`count` uniform orders for each task; `shape` is that of a batch of points without their features."""
    return torch.rand(count, *shape, generator=generator).argsort(dim=-1)


def all_orders(shape: torch.Size) -> Orders:
    """Every one of the n! orders, the same for each task.

    >>> all_orders(torch.Size([3])).shape
    torch.Size([6, 3])
    """
    every = torch.tensor(list(permutations(range(shape[-1]))))
    return every.view(len(every), *[1] * (len(shape) - 1), shape[-1]).expand(-1, *shape)


def rearrange(points: Tensor, order: Int[Tensor, "*batch point"]) -> Tensor:
    """Points `[*batch, point, feature]` in another order."""
    return points.gather(-2, order.unsqueeze(-1).expand_as(points))


def restore(points: Tensor, order: Int[Tensor, "*batch point"]) -> Tensor:
    """The way back from `rearrange`."""
    return rearrange(points, order.argsort(dim=-1))
