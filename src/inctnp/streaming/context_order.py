"""In which order to learn points that arrive together: greedily by predicted variance.  (Alg. 2)"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from inctnp.errors import UnknownNameError
from inctnp.models.base import NeuralProcess
from inctnp.notation import Inputs, Outputs

Choice = Callable[[Tensor], Tensor]
"""From the variances of the candidates, the last axis, to the index of the next one."""

CHOICES: dict[str, Choice] = {
    "max": lambda variance: variance.argmax(dim=-1),
    "median": lambda variance: variance.median(dim=-1).indices,
    "min": lambda variance: variance.argmin(dim=-1),
}


@torch.no_grad()
def greedy_order(
    model: NeuralProcess, context: Any, x: Inputs, y: Outputs, choice: str = "max"
) -> tuple[Any, Int[Tensor, "*batch point"]]:
    """The context with the points learned in greedy order, and that order.

    A round is one query at the points left, with the keys already cached, and one append.
    """
    if choice not in CHOICES:
        raise UnknownNameError(f"No way to choose is called {choice!r}: there are {', '.join(CHOICES)}.")
    model.check(context.batch, x, y)
    points = x.shape[-2]
    taken = torch.zeros(x.shape[:-1], dtype=torch.bool, device=x.device)
    order: list[Tensor] = []
    for left in range(points, 0, -1):
        candidates = (~taken).nonzero()[:, -1].view(*x.shape[:-2], left)
        variance = model.query(context, _rows(x, candidates)).variance.sum(dim=-1)
        chosen = candidates.gather(-1, CHOICES[choice](variance).unsqueeze(-1))
        taken.scatter_(-1, chosen, True)
        order.append(chosen)
        context = model.extend(context, _rows(x, chosen), _rows(y, chosen))
    return context, torch.cat(order, dim=-1)


def _rows(points: Tensor, index: Tensor) -> Tensor:
    return points.gather(-2, index.unsqueeze(-1).expand(*index.shape, points.shape[-1]))
