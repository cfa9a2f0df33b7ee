from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from inctnp.predictive.gaussian import Gaussian
from inctnp.task import Task
from inctnp.testing.toy import toy_model, toy_points


@dataclass(frozen=True)
class Forgetful:
    """A prediction rule that depends on the order: it carries on from the newest point alone, on inputs in 1-D.

    y_i given all before is N(a y_{i-1} + b x_i, s(x_{i-1})²): simple enough to integrate over.
    """

    pull: float = 0.8
    slope: float = 0.3

    def law(self, x_before: Any, y_before: Any, x: Any) -> tuple[Any, Any]:
        return self.pull * y_before + self.slope * x, 0.5 + 0.4 * x_before**2

    def empty(self, batch: Any = ()) -> tuple[Tensor, Tensor]:
        start = torch.zeros(*torch.Size(batch if not isinstance(batch, int) else (batch,)), 1, 1, dtype=torch.float64)
        return start, start

    def extend(self, context: Any, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        joined = torch.cat([context[0], x], dim=-2), torch.cat([context[1], y], dim=-2)
        return joined[0][..., -1:, :], joined[1][..., -1:, :]

    def query(self, context: Any, xt: Tensor) -> Gaussian:
        mean, std = self.law(*context, xt)
        return Gaussian(mean, std.expand_as(mean))

    def conditionals(self, context: Any, xt: Tensor, yt: Tensor) -> Gaussian:
        x = torch.cat([context[0], xt[..., :-1, :]], dim=-2)
        y = torch.cat([context[1], yt[..., :-1, :]], dim=-2)
        return Gaussian(*self.law(x, y, xt))

    def joint_sample(self, context: Any, xt: Tensor, n: int, *, generator: torch.Generator | None = None) -> Any:
        draws = []
        for _ in range(n):
            state, values = context, []
            for i in range(xt.shape[-2]):
                values.append(self.query(state, xt[..., i : i + 1, :]).sample(generator))
                state = self.extend(state, xt[..., i : i + 1, :], values[-1])
            draws.append(torch.cat(values, dim=-2))
        return Drawn(torch.stack(draws))


@dataclass(frozen=True)
class Drawn:
    draws: Tensor


@pytest.fixture
def forgetful() -> Forgetful:
    return Forgetful()


def toy_task(model: Any, context: int, targets: int, *, batch: tuple[int, ...] = (2,), seed: int = 0) -> Task:
    xc, yc = toy_points(model, context, seed=seed, batch=batch)
    xt, yt = toy_points(model, targets, seed=seed + 1, batch=batch)
    return Task(xc=xc, yc=yc, xt=xt, yt=yt)


@pytest.fixture(params=["tnp-d", "inctnp-seq"])
def small(request: pytest.FixtureRequest) -> Any:
    return soft_model(request.param, layers=1)


def soft_model(name: str, **settings: Any) -> Any:
    """Means close together and deviations wide: densities that can be added up without logarithms."""
    model = toy_model(name, std_min=0.5, **settings)
    with torch.no_grad():
        model.decoder.net[-1].weight.mul_(0.15)
    return model


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal_log_density(y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    return -0.5 * ((y - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)
