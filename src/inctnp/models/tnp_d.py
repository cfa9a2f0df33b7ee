"""TNP-D: every new point changes the encoding of all others, so a context keeps the points themselves.

LBANP is the same model around another stack.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import EmptyContextError
from inctnp.models.base import NeuralProcess, batch_shape, flat, require_exact
from inctnp.models.config import ModelConfig
from inctnp.models.kept_points import KeptPoints, no_points
from inctnp.models.objectives import target_nll
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.base import Predictive
from inctnp.predictive.gaussian import Decoder, outputs_per_token
from inctnp.predictive.mixture import Mixture
from inctnp.task import Task
from inctnp.tokens.embed import PointEmbedder, mlp
from inctnp.tokens.fourier import FourierFeatures
from inctnp.transformer.cache import Cache
from inctnp.transformer.interleaved import InterleavedStack
from inctnp.transformer.latent import LatentStack


class TNPD(NeuralProcess):
    """A transformer that encodes the whole context at once and answers any number of questions about it."""

    def __init__(self, config: ModelConfig, stack: InterleavedStack | LatentStack) -> None:
        super().__init__()
        self.config = config
        fourier = FourierFeatures(config.grids) if config.grids else None
        self.embed = PointEmbedder(config.dim_x, config.dim_y, config.width, fourier)
        self.stack = stack
        outputs = outputs_per_token(config.dim_y, config.components)
        network = mlp([config.width, config.width, config.width, outputs])
        self.decoder = Decoder(network, config.dim_y, config.components, config.std_min)

    def empty(self, batch: int | Sequence[int] = (), storage: str = "exact") -> KeptPoints:
        require_exact(self.config.name, storage)
        return no_points(batch_shape(batch), self.config.dim_x, self.config.dim_y, next(self.parameters()))

    def extend(self, context: KeptPoints, x: Inputs, y: Outputs) -> KeptPoints:
        self.check(context.batch, x, y)
        return context.extended(x, y)

    def query(self, context: KeptPoints, xt: Inputs) -> Predictive:
        self.check(context.batch, xt)
        if len(context) == 0:
            raise EmptyContextError(
                f"{self.config.name} predicts from at least one point: extend the context first, or use inctnp-prior."
            )
        targets = self.stack.query(context.encoding(self._encode), self.embed.asked(flat(xt)))
        return self.decoder(targets.view(*xt.shape[:-1], self.config.width))

    def conditionals(self, context: KeptPoints, xt: Inputs, yt: Outputs) -> Predictive:
        """Bidirectional attention leaves no choice: the context is encoded again for every target."""
        self.check(context.batch, xt, yt)
        if xt.shape[-2] == 0:
            return self.query(context, xt)
        parts: list[tuple[Tensor, ...]] = []
        for i in range(xt.shape[-2]):
            before = context.extended(xt[..., :i, :], yt[..., :i, :])
            parts.append(self.query(before, xt[..., i : i + 1, :]).components())
        return Mixture(*(torch.cat(part, dim=-2) for part in zip(*parts, strict=True)))

    def rollout(self, context: KeptPoints, draws: int, points: int) -> KeptPoints:
        return context.repeated(draws)

    def first(self, state: KeptPoints, xt: Inputs) -> Predictive:
        return self.query(state, xt)

    def step(self, state: KeptPoints, x: Inputs, y: Outputs, xt: Inputs) -> tuple[KeptPoints, Predictive]:
        state = self.extend(state, x, y)
        return state, self.query(state, xt)

    def restore(self, header: dict[str, Any], tensors: dict[str, Tensor]) -> KeptPoints:
        return KeptPoints(tensors["x"], tensors["y"])

    def bytes_per_point(self, storage: str = "exact") -> int:
        require_exact(self.config.name, storage)
        return (self.config.dim_x + self.config.dim_y) * self.dtype.itemsize

    def objective(self, task: Task) -> Float[Tensor, ""]:
        return target_nll(self, task)

    def _encode(self, x: Inputs, y: Outputs) -> Cache:
        return self.stack.encode(self.embed.seen(flat(x), flat(y)))
