"""incTNP, incTNP-Seq and incTNP-Prior: causal attention, so what is known of a point never changes again.

The three share this network. They differ in what they are trained on and in whether a learned token stands before
the first point.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from inctnp.errors import EmptyContextError
from inctnp.models.base import NeuralProcess, batch_shape, flat
from inctnp.models.config import ModelConfig
from inctnp.models.objectives import prefix_nll, target_nll
from inctnp.notation import Inputs, Outputs, Tokens
from inctnp.predictive.base import Predictive
from inctnp.predictive.gaussian import Decoder, outputs_per_token
from inctnp.task import Task
from inctnp.tokens.embed import PointEmbedder, mlp
from inctnp.tokens.fourier import FourierFeatures
from inctnp.transformer.cache import Cache, restore_cache
from inctnp.transformer.interleaved import InterleavedStack
from inctnp.transformer.masks import causal_mask, strictly_before
from inctnp.transformer.storage import storage_named

MOST_SCORES = 1 << 22
"""Attention scores per head computed at once when many points arrive together; bounds the memory of a long prefill."""

ALIGNED = 32
"""Multiple to which dense training pads its rows in bfloat16."""


@dataclass(frozen=True, eq=False)
class CachedContext:
    """Keys and values of every point, for a batch of contexts or for several draws continuing each of them."""

    base: torch.Size
    cache: Cache
    prior_rows: int = 0
    """Rows that are no points: 1 where a prior token stands first."""
    draws: int = 0
    """Continuations per context, on a first axis of the batch; 0 where there is no such axis."""

    @property
    def batch(self) -> torch.Size:
        return torch.Size((self.draws, *self.base)) if self.draws else self.base

    def __len__(self) -> int:
        return len(self.cache) - self.prior_rows

    @property
    def nbytes(self) -> int:
        return self.cache.nbytes

    def truncate(self, points: int) -> Self:
        return replace(self, cache=self.cache.truncate(points + self.prior_rows))

    def branch(self, draws: int, points: int) -> Self:
        """The same past for each of several continuations, the last of whose points nobody looks at."""
        return replace(self, cache=self.cache.branch(draws, points - 1), draws=draws)

    def followed_by(self, cache: Cache) -> Self:
        return replace(self, cache=cache)

    def flat(self, x: Tensor) -> Tensor:
        """[*batch, points, features] to [batch, points, features], draws of one context next to each other."""
        if self.draws:
            x = x.movedim(0, -3)
        return flat(x)

    def unflat(self, tokens: Tensor) -> Tensor:
        """The way back from `flat`."""
        if not self.draws:
            return tokens.view(*self.base, *tokens.shape[-2:])
        return tokens.view(*self.base, self.draws, *tokens.shape[-2:]).movedim(-3, 0)

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        header, tensors = self.cache.state()
        return {**header, "batch": list(self.base), "prior_rows": self.prior_rows}, tensors


class IncTNP(NeuralProcess):
    """An incremental transformer neural process.

    >>> model = IncTNP(ModelConfig(name="inctnp-seq", dim_x=1, width=16, heads=2, layers=1))
    >>> x, y = torch.randn(5, 1), torch.randn(5, 1)
    >>> context = model.extend(model.empty(), x, y)
    >>> len(context), model.query(context, x).mean.shape
    (5, torch.Size([5, 1]))
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        fourier = FourierFeatures(config.grids) if config.grids else None
        self.embed = PointEmbedder(config.dim_x, config.dim_y, config.width, fourier)
        self.prior = nn.Parameter(torch.randn(config.width)) if config.prior else None
        self.stack = InterleavedStack(config, config.layers)
        outputs = outputs_per_token(config.dim_y, config.components)
        network = mlp([config.width, config.width, config.width, outputs])
        self.decoder = Decoder(network, config.dim_y, config.components, config.std_min)

    def empty(self, batch: int | Sequence[int] = (), storage: str = "exact") -> CachedContext:
        shape = batch_shape(batch)
        cache = Cache(slots=self.stack.slots, storage=storage_named(storage))
        if self.prior is None:
            return CachedContext(shape, cache)
        append = cache.append(1)
        self.stack(append, self._prior(shape.numel()), None, None, None)
        return CachedContext(shape, append.done(), prior_rows=1)

    def extend(self, context: CachedContext, x: Inputs, y: Outputs) -> CachedContext:
        self.check(context.batch, x, y)
        tokens = self.embed.seen(context.flat(x), context.flat(y))
        cache, start = context.cache, 0
        while start < tokens.shape[1]:
            size = max(64, MOST_SCORES // (len(cache) + tokens.shape[1]))
            part = tokens[:, start : start + size]
            append = cache.append(part.shape[1])
            self.stack(append, part, None, _among(part.shape[1]), None)
            cache, start = append.done(), start + size
        return context.followed_by(cache)

    def query(self, context: CachedContext, xt: Inputs) -> Predictive:
        self.check(context.batch, xt)
        self._require_rows(context)
        targets = self.stack.query(context.cache, self.embed.asked(context.flat(xt)))
        return self.decoder(context.unflat(targets))

    def conditionals(self, context: CachedContext, xt: Inputs, yt: Outputs) -> Predictive:
        """All of them in one masked pass over the targets."""
        self.check(context.batch, xt, yt)
        self._require_rows(context)
        known = xt.shape[-2] - 1
        if known < 1:
            return self.query(context, xt)
        seen = self.embed.seen(context.flat(xt[..., :-1, :]), context.flat(yt[..., :-1, :]))
        asked = self.embed.asked(context.flat(xt))
        append = context.cache.overlay(known)
        targets = self.stack(append, seen, asked, _among(known), strictly_before(known + 1, known))
        return self.decoder(context.unflat(targets))

    def dense(self, x: Inputs, y: Outputs) -> Predictive:
        """Every point from those before it, in one pass: the first too if there is a prior token.  (Eq. 4)

        The last point is never looked at, so without its context token both masks are the same square.
        """
        batch = x.shape[:-2]
        self.check(batch, x, y)
        plain = CachedContext(batch, Cache(slots=self.stack.slots))
        flat_x, flat_y = plain.flat(x), plain.flat(y)
        seen = self.embed.seen(flat_x[:, :-1], flat_y[:, :-1])
        if self.prior is not None:
            seen = torch.cat([self._prior(len(seen)).to(seen.dtype), seen], dim=1)
        rows = seen.shape[1]
        if rows < 1 or x.shape[-2] < 1:
            raise EmptyContextError(
                f"Dense training predicts every point from those before it, and {x.shape[-2]} points leave none to "
                "predict: give two or more, or one to a model with a prior token."
            )
        asked = self.embed.asked(flat_x[:, -rows:])
        if torch.is_autocast_enabled("cpu"):
            # Rows behind the last are seen by nobody; they make the low-precision products up to three times faster.
            seen, asked = (F.pad(tokens, (0, 0, 0, -rows % ALIGNED)) for tokens in (seen, asked))
        mask = _among(seen.shape[1])
        targets = self.stack(plain.cache.overlay(seen.shape[1]), seen, asked, mask, mask)
        return self.decoder(plain.unflat(targets[:, :rows]))

    def rollout(self, context: CachedContext, draws: int, points: int) -> CachedContext:
        self._require_rows(context)
        return context.branch(draws, points)

    def first(self, state: CachedContext, xt: Inputs) -> Predictive:
        return self.query(state, xt)

    def step(self, state: CachedContext, x: Inputs, y: Outputs, xt: Inputs) -> tuple[CachedContext, Predictive]:
        """Append and ask in one pass of the layers, not two."""
        append = state.cache.append(x.shape[-2])
        seen = self.embed.seen(state.flat(x), state.flat(y))
        targets = self.stack(append, seen, self.embed.asked(state.flat(xt)), _among(x.shape[-2]), None)
        return state.followed_by(append.done()), self.decoder(state.unflat(targets))

    def restore(self, header: dict[str, Any], tensors: dict[str, Tensor]) -> CachedContext:
        cache = restore_cache(self.stack.slots, header, tensors)
        return CachedContext(torch.Size(header["batch"]), cache, header["prior_rows"])

    def objective(self, task: Task) -> Float[Tensor, ""]:
        return (target_nll if self.config.name == "inctnp" else prefix_nll)(self, task)

    def bytes_per_point(self, storage: str = "exact") -> int:
        """Keys and values of both attentions in every layer."""
        kept = storage_named(storage).bytes_per_row(self.config.depth, self.dtype)
        return 2 * self.stack.slots * self.config.heads * kept

    def _prior(self, batch: int) -> Tokens:
        assert self.prior is not None
        return self.prior.expand(batch, 1, -1)

    def _require_rows(self, context: CachedContext) -> None:
        if len(context.cache) == 0:
            raise EmptyContextError(
                f"{self.config.name} without a prior token predicts from at least one point: "
                "extend the context first, or use a model with a prior (inctnp-prior, or prior=True)."
            )


def _among(points: int) -> Tensor | None:
    """The mask among points that arrive together; one alone needs none."""
    return causal_mask(points, points) if points > 1 else None
