"""Adam from values to values, so that a context that holds its state can be forked.  (Kingma and Ba, 2015)"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

Parameters = Mapping[str, Tensor]
DECAYS = (0.9, 0.999)
EPSILON = 1e-8


@dataclass(frozen=True, eq=False)
class Moments:
    """Running means of the gradients and of their squares."""

    first: Parameters
    second: Parameters
    steps: int = 0


def no_moments(parameters: Parameters) -> Moments:
    """Before the first step."""
    zeros = {name: torch.zeros_like(value) for name, value in parameters.items()}
    return Moments(zeros, zeros)


def adam_step(
    loss: Callable[[Parameters], Tensor], parameters: Parameters, moments: Moments, rates: Mapping[str, float]
) -> tuple[Parameters, Moments]:
    """New parameters one step down the loss, each at its own rate; nothing given is changed."""
    with torch.enable_grad():
        leaves = {name: value.detach().clone().requires_grad_() for name, value in parameters.items()}
        gradients = torch.autograd.grad(loss(leaves), list(leaves.values()), materialize_grads=True)
    steps, (keep1, keep2) = moments.steps + 1, DECAYS
    moved, first, second = {}, {}, {}
    for (name, value), gradient in zip(parameters.items(), gradients, strict=True):
        first[name] = keep1 * moments.first[name] + (1 - keep1) * gradient
        second[name] = keep2 * moments.second[name] + (1 - keep2) * gradient**2
        scale = (second[name] / (1 - keep2**steps)).sqrt() + EPSILON
        moved[name] = value - rates[name] * first[name] / (1 - keep1**steps) / scale
    return moved, Moments(first, second, steps)
