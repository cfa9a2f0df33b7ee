"""The slow, honest path: everything from the raw points, every time.  What the tests and benchmarks compare with."""

import torch
from torch import Tensor

from inctnp.models.base import NeuralProcess
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.base import Predictive


def query_from_scratch(model: NeuralProcess, x: Inputs, y: Outputs, xt: Inputs) -> Predictive:
    """Encode the whole context, then ask."""
    return model.query(model.extend(model.empty(x.shape[:-2]), x, y), xt)


def joint_log_prob_step_by_step(model: NeuralProcess, x: Inputs, y: Outputs, xt: Inputs, yt: Outputs) -> Tensor:
    """One target after the other, the context encoded again for each."""
    total = torch.zeros(x.shape[:-2], dtype=x.dtype)
    for i in range(xt.shape[-2]):
        p = query_from_scratch(model, x, y, xt[..., i : i + 1, :])
        total = total + p.log_prob(yt[..., i : i + 1, :]).sum(dim=(-2, -1))
        x, y = torch.cat([x, xt[..., i : i + 1, :]], dim=-2), torch.cat([y, yt[..., i : i + 1, :]], dim=-2)
    return total


@torch.no_grad()
def sample_step_by_step(
    model: NeuralProcess, x: Inputs, y: Outputs, xt: Inputs, draws: int, generator: torch.Generator | None = None
) -> Tensor:
    """Every draw with a context of its own, encoded again at every step."""
    x, y, xt = (t.expand(draws, *t.shape) for t in (x, y, xt))
    values: list[Tensor] = []
    for i in range(xt.shape[-2]):
        point = xt[..., i : i + 1, :]
        values.append(query_from_scratch(model, x, y, point).sample(generator))
        x, y = torch.cat([x, point], dim=-2), torch.cat([y, values[-1]], dim=-2)
    return torch.cat(values, dim=-2)
