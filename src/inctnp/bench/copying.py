"""What incTNP costs with a cache that grows by copying and projects cross-attention keys at every question."""

from dataclasses import dataclass

import torch
from torch import Tensor

from inctnp.models.inc_tnp import CachedContext, IncTNP
from inctnp.predictive.base import Predictive
from inctnp.transformer.masks import causal_mask


@dataclass(frozen=True)
class CopiedContext:
    """Keys and values of the self-attention, and the tokens each layer put out, per layer."""

    rows: list[Tensor]
    tokens: list[Tensor]

    @property
    def nbytes(self) -> int:
        return sum(t.nbytes for t in (*self.rows, *self.tokens))

    def repeat(self, draws: int) -> "CopiedContext":
        """A copy for each draw: how sampling works without a shared prefix."""
        return CopiedContext(
            [rows.repeat_interleave(draws, dim=1) for rows in self.rows],
            [tokens.repeat_interleave(draws, dim=0) for tokens in self.tokens],
        )


class CopyingIncTNP:
    """The same network around the cache of the published implementation."""

    def __init__(self, model: IncTNP) -> None:
        self.model = model

    def resumed(self, context: CachedContext) -> CopiedContext:
        """What this cache would hold after the rows of another one; its tokens are made up, which changes no time."""
        layers, width = self.model.stack.layers, self.model.config.width
        tokens = torch.zeros(1, len(context), width)
        rows = [torch.cat(context.cache.pieces(layers + i, tokens.dtype), dim=-2) for i in range(layers)]
        return CopiedContext(rows, [tokens.clone() for _ in range(layers)])

    def extend(self, context: CopiedContext | None, x: Tensor, y: Tensor) -> CopiedContext:
        tokens = self.model.embed.seen(x, y)
        mask = causal_mask(tokens.shape[1], tokens.shape[1]) if tokens.shape[1] > 1 else None
        rows, outputs = [], []
        for layer, block in enumerate(self.model.stack.self_blocks):
            queries, new = block.read(tokens, 1)
            rows.append(new if context is None else torch.cat([context.rows[layer], new], dim=4))
            tokens = block.mix(tokens, queries, [rows[-1]], mask)
            outputs.append(tokens if context is None else torch.cat([context.tokens[layer], tokens], dim=1))
        return CopiedContext(rows, outputs)

    def query(self, context: CopiedContext, xt: Tensor) -> Predictive:
        targets = self.model.embed.asked(xt)
        for block, tokens in zip(self.model.stack.cross_blocks, context.tokens, strict=True):
            targets = block.mix(targets, block.queries(targets, 1), [block.keys_values(tokens, 1)], None)
        return self.model.decoder(targets)

    def sample(self, context: CopiedContext, xt: Tensor, draws: int) -> Tensor:
        context = context.repeat(draws)
        values = []
        for i in range(xt.shape[1]):
            point = xt[:, i : i + 1].expand(draws, -1, -1)
            values.append(self.query(context, point).sample())
            context = self.extend(context, point, values[-1])
        return torch.cat(values, dim=1)

    def joint_log_prob(self, context: CopiedContext, xt: Tensor, yt: Tensor) -> Tensor:
        """One target after the other."""
        total = torch.zeros(len(xt))
        for i in range(xt.shape[1]):
            x, y = xt[:, i : i + 1], yt[:, i : i + 1]
            total = total + self.query(context, x).log_prob(y).sum(dim=(-2, -1))
            context = self.extend(context, x, y)
        return total
