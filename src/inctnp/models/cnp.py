"""CNP: the mean of embedded points.  A context is a running sum, so an update costs the same at any length."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import EmptyContextError, RollbackError
from inctnp.models.base import NeuralProcess, batch_shape, require_exact
from inctnp.models.config import ModelConfig
from inctnp.models.objectives import target_nll
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.base import Predictive
from inctnp.predictive.gaussian import Decoder, outputs_per_token
from inctnp.task import Task
from inctnp.tokens.embed import mlp
from inctnp.tokens.fourier import FourierFeatures


@dataclass(frozen=True, eq=False)
class RunningSum:
    """Embedded points added up; dividing happens at the question, never in place."""

    total: Float[Tensor, "*batch width"]
    count: int

    @property
    def batch(self) -> torch.Size:
        return self.total.shape[:-1]

    def __len__(self) -> int:
        return self.count

    @property
    def nbytes(self) -> int:
        return self.total.nbytes

    def truncate(self, points: int) -> Self:
        if points == self.count:
            return self
        if points == 0:
            return replace(self, total=torch.zeros_like(self.total), count=0)
        raise RollbackError(
            f"A CNP keeps the sum of its {self.count} points, not the points, so it cannot go back to {points}. "
            "Keep the rows in the stream (keep_rows=True), or fork before the rows you may want to drop."
        )

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return {"count": self.count}, {"total": self.total.contiguous()}


class CNP(NeuralProcess):
    """Conditional neural process."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.fourier = FourierFeatures(config.grids) if config.grids else None
        features = self.fourier.size if self.fourier else config.dim_x
        hidden = [config.width] * config.hidden_layers
        self.encoder = mlp([features + config.dim_y, *hidden, config.width])
        outputs = outputs_per_token(config.dim_y, config.components)
        network = mlp([config.width + features, *hidden, outputs])
        self.decoder = Decoder(network, config.dim_y, config.components, config.std_min)

    def empty(self, batch: int | Sequence[int] = (), storage: str = "exact") -> RunningSum:
        require_exact(self.config.name, storage)
        weight = next(self.parameters())
        return RunningSum(weight.new_zeros(*batch_shape(batch), self.config.width), 0)

    def extend(self, context: RunningSum, x: Inputs, y: Outputs) -> RunningSum:
        self.check(context.batch, x, y)
        return RunningSum(context.total + self._embed(x, y).sum(dim=-2), context.count + x.shape[-2])

    def query(self, context: RunningSum, xt: Inputs) -> Predictive:
        self.check(context.batch, xt)
        counts = torch.full((1,), context.count, device=xt.device)
        return self._decode(context.total.unsqueeze(-2), counts, xt)

    def conditionals(self, context: RunningSum, xt: Inputs, yt: Outputs) -> Predictive:
        self.check(context.batch, xt, yt)
        if xt.shape[-2] == 0:
            return self.query(context, xt)
        added = self._embed(xt, yt).cumsum(dim=-2)
        before = context.total.unsqueeze(-2) + torch.cat([torch.zeros_like(added[..., :1, :]), added[..., :-1, :]], -2)
        return self._decode(before, context.count + torch.arange(xt.shape[-2], device=xt.device), xt)

    def rollout(self, context: RunningSum, draws: int, points: int) -> RunningSum:
        return replace(context, total=context.total.expand(draws, *context.total.shape))

    def first(self, state: RunningSum, xt: Inputs) -> Predictive:
        return self.query(state, xt)

    def step(self, state: RunningSum, x: Inputs, y: Outputs, xt: Inputs) -> tuple[RunningSum, Predictive]:
        state = self.extend(state, x, y)
        return state, self.query(state, xt)

    def restore(self, header: dict[str, Any], tensors: dict[str, Tensor]) -> RunningSum:
        return RunningSum(tensors["total"], header["count"])

    def bytes_per_point(self, storage: str = "exact") -> int:
        require_exact(self.config.name, storage)
        return 0

    def objective(self, task: Task) -> Float[Tensor, ""]:
        return target_nll(self, task)

    def _features(self, x: Inputs) -> Tensor:
        return x if self.fourier is None else self.fourier(x).to(self.dtype)

    def _embed(self, x: Inputs, y: Outputs) -> Tensor:
        return self.encoder(torch.cat([self._features(x), y], dim=-1))

    def _decode(self, totals: Tensor, counts: Tensor, xt: Inputs) -> Predictive:
        if counts[0] == 0:
            raise EmptyContextError("A CNP predicts from at least one point: extend the context first.")
        summary = totals / counts.to(totals.dtype).unsqueeze(-1)
        features = self._features(xt)
        return self.decoder(torch.cat([summary.expand(*features.shape[:-1], -1), features], dim=-1))
