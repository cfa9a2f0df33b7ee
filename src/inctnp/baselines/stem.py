"""The learned stem of WISKI on tables: linear, batch norm, tanh, into the square that the grid covers."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from inctnp.seeding import generator

EPSILON = 1e-5
"""Keeps a constant feature from dividing by zero."""


@dataclass(frozen=True, eq=False)
class Normalisation:
    """Mean and standard deviation of the projected inputs of the first points, and their use for all later ones."""

    mean: Tensor
    std: Tensor


def initial_stem(batch: torch.Size, dim_x: int, dims: int, seed: int) -> dict[str, Tensor]:
    """A random projection, and a batch norm that changes nothing yet."""
    random = torch.randn(dim_x, dims, generator=generator(seed, "stem"), dtype=torch.float64)
    unit = torch.ones(*batch, dims, dtype=torch.float64)
    return {
        "stem_weight": (random * dim_x**-0.5).expand(*batch, dim_x, dims).clone(),
        "stem_gain": unit,
        "stem_shift": torch.zeros_like(unit),
    }


def measure(parameters: Mapping[str, Tensor], x: Tensor) -> Normalisation:
    """The batch statistics of these points, apart for each task."""
    projected = x @ parameters["stem_weight"]
    variance = projected.var(dim=-2, correction=0, keepdim=True)
    return Normalisation(projected.mean(dim=-2, keepdim=True), (variance + EPSILON).sqrt())


def apply_stem(parameters: Mapping[str, Tensor], normalisation: Normalisation, x: Tensor) -> Tensor:
    """Where these points lie in the square (-1, 1)."""
    unit = (x @ parameters["stem_weight"] - normalisation.mean) / normalisation.std
    return torch.tanh(parameters["stem_gain"].unsqueeze(-2) * unit + parameters["stem_shift"].unsqueeze(-2))
