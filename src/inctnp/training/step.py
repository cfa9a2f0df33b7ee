"""One step of training: differentiate, average, clip, move."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn

from inctnp.models.base import NeuralProcess
from inctnp.task import Outlook, Task


class Objective(nn.Module):
    """A model seen as the function that is differentiated, which is what Fabric wraps."""

    def __init__(self, model: NeuralProcess, precision: str) -> None:
        super().__init__()
        self.model, self.low = model, precision == "bf16-mixed"

    def forward(self, xc: Tensor, yc: Tensor, xt: Tensor, yt: Tensor, outlook: Outlook | None = None) -> Tensor:
        # Not Fabric's own mixed precision: that would round the data to bfloat16 before the model sees them.
        with torch.autocast(xc.device.type, torch.bfloat16, enabled=self.low):
            return self.model.objective(Task(xc=xc, yc=yc, xt=xt, yt=yt, outlook=outlook))


def one_step(fabric: Fabric, module: Any, optimisers: Sequence[Any], tasks: Sequence[Task], clip: float) -> float:
    """Move along the mean gradient of these batches; answers their mean loss, and moves nothing if it is not finite.

    With several processes the gradient is also the mean over them: w processes of one batch each move as one process
    does that averages w batches.
    """
    for optimiser in optimisers:
        optimiser.zero_grad()
    total = torch.zeros((), device=fabric.device)
    for i, task in enumerate(tasks):
        with fabric.no_backward_sync(module, enabled=i + 1 < len(tasks)):
            here = task.map(fabric.to_device)
            loss = module(here.xc, here.yc, here.xt, here.yt, here.outlook) / len(tasks)
            fabric.backward(loss)
        total = total + loss.detach()
    norm = torch.nn.utils.clip_grad_norm_(module.parameters(), clip)
    value = (total + 0 * norm).item()
    if math.isfinite(value):
        for optimiser in optimisers:
            optimiser.step()
    return value
