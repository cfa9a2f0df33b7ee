"""Models and data small enough for a test: float64, two layers, sixteen numbers a token."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from inctnp.models.base import NeuralProcess
from inctnp.models.build import build
from inctnp.models.config import ModelConfig
from inctnp.seeding import generator

SHARPNESS = 2.0
"""Factor on freshly drawn matrices: attention far from uniform, so that a row seen too many or too few is noticed."""


def toy_model(name: str, *, seed: int = 0, **settings: Any) -> NeuralProcess:
    """A tiny model with random weights, in float64 and eval mode.

    >>> toy_model("inctnp").dtype
    torch.float64
    """
    config = ModelConfig(
        name=name, **{"dim_x": 2, "width": 16, "heads": 2, "layers": 2, "latents": 3, "std_min": 0.1, **settings}
    )
    model = build(config).double().eval()
    rng = generator(seed, "toy", name)
    with torch.no_grad():
        for part, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=rng, dtype=torch.float64)
            if parameter.ndim > 1:
                parameter.copy_(noise * SHARPNESS * parameter.shape[-1] ** -0.5)
            else:
                parameter.copy_(noise * 0.3 + ("norm" in part and part.endswith("weight")))
    return model


def toy_points(model: NeuralProcess, points: int, *, seed: int = 0, batch: Sequence[int] = ()) -> tuple[Tensor, Tensor]:
    """Inputs and outputs that fit a model.

    >>> [tuple(t.shape) for t in toy_points(toy_model("cnp"), 5, batch=(3,))]
    [(3, 5, 2), (3, 5, 1)]
    """
    rng = generator(seed, "points")
    x = torch.randn(*batch, points, model.config.dim_x, generator=rng, dtype=torch.float64)
    y = torch.randn(*batch, points, model.config.dim_y, generator=rng, dtype=torch.float64)
    return x.to(model.dtype), y.to(model.dtype)
