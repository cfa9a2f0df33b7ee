"""TNP-A: context, observed targets and queried targets in one stack of self-attention.

The context is encoded once and every draw continues from that one copy; `query_published` keeps the original form,
which runs everything through the network again at each step, as the baseline it is in the paper.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import EmptyContextError
from inctnp.models.base import NeuralProcess, batch_shape, flat, require_exact
from inctnp.models.config import ModelConfig
from inctnp.models.inc_tnp import CachedContext
from inctnp.models.kept_points import KeptPoints, no_points
from inctnp.models.objectives import joint_nll
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.base import Predictive
from inctnp.predictive.gaussian import Decoder, outputs_per_token
from inctnp.task import Task
from inctnp.tokens.embed import PointEmbedder, mlp
from inctnp.tokens.fourier import FourierFeatures
from inctnp.transformer.cache import Cache
from inctnp.transformer.joint import JointStack
from inctnp.transformer.masks import causal_mask, one_sequence_mask, strictly_before

OBSERVED, QUERIED = 1.0, 0.0
"""Flags of target tokens as published: the query's is the same as a context point's."""


class TNPA(NeuralProcess):
    """A transformer whose targets look at the targets before them."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        fourier = FourierFeatures(config.grids) if config.grids else None
        self.embed = PointEmbedder(config.dim_x, config.dim_y, config.width, fourier)
        self.stack = JointStack(config, config.layers)
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
        """Each target as if it were the first: from the context alone."""
        self.check(context.batch, xt)
        return self._asked(CachedContext(context.batch, self._encoding(context)), xt)

    def conditionals(self, context: KeptPoints, xt: Inputs, yt: Outputs) -> Predictive:
        self.check(context.batch, xt, yt)
        cache = self._encoding(context)
        observed = xt.shape[-2] - 1
        if observed < 1:
            return self._asked(CachedContext(context.batch, cache), xt)
        seen = self.embed.seen(flat(xt[..., :-1, :]), flat(yt[..., :-1, :]), OBSERVED)
        queried = self.embed.asked(flat(xt), QUERIED)
        masks = causal_mask(observed, observed), strictly_before(observed + 1, observed)
        targets = self.stack(cache.overlay(observed), seen, queried, *masks)
        return self.decoder(targets.view(*xt.shape[:-1], self.config.width))

    def query_published(self, context: KeptPoints, xt: Inputs, yt: Outputs) -> Predictive:
        """`conditionals` in the published form: three runs of tokens under one mask, nothing cached."""
        self.check(context.batch, xt, yt)
        x, y, targets = flat(xt), flat(yt), xt.shape[-2]
        tokens = [
            self.embed.seen(flat(context.x), flat(context.y)),
            self.embed.seen(x, y, OBSERVED),
            self.embed.asked(x, QUERIED),
        ]
        encoded = self.stack.one_sequence(torch.cat(tokens, dim=1), one_sequence_mask(len(context), targets))
        return self.decoder(encoded[:, -targets:].view(*xt.shape[:-1], self.config.width))

    def rollout(self, context: KeptPoints, draws: int, points: int) -> CachedContext:
        return CachedContext(context.batch, self._encoding(context)).branch(draws, points)

    def first(self, state: CachedContext, xt: Inputs) -> Predictive:
        return self._asked(state, xt)

    def step(self, state: CachedContext, x: Inputs, y: Outputs, xt: Inputs) -> tuple[CachedContext, Predictive]:
        append = state.cache.append(x.shape[-2])
        seen = self.embed.seen(state.flat(x), state.flat(y), OBSERVED)
        targets = self.stack(append, seen, self.embed.asked(state.flat(xt), QUERIED), None, None)
        return state.followed_by(append.done()), self.decoder(state.unflat(targets))

    def restore(self, header: dict[str, Any], tensors: dict[str, Tensor]) -> KeptPoints:
        return KeptPoints(tensors["x"], tensors["y"])

    def bytes_per_point(self, storage: str = "exact") -> int:
        require_exact(self.config.name, storage)
        return (self.config.dim_x + self.config.dim_y) * self.dtype.itemsize

    def objective(self, task: Task) -> Float[Tensor, ""]:
        return joint_nll(self, task)

    def _asked(self, state: CachedContext, xt: Inputs) -> Predictive:
        queried = self.embed.asked(state.flat(xt), QUERIED)
        return self.decoder(state.unflat(self.stack.query(state.cache, queried)))

    def _encoding(self, context: KeptPoints) -> Cache:
        if len(context) == 0:
            raise EmptyContextError("tnp-a predicts from at least one point: extend the context first.")
        return context.encoding(lambda x, y: self.stack.encode(self.embed.seen(flat(x), flat(y))))
