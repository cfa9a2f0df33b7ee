"""Scaled dot-product attention over keys and values that may lie in several pieces.

Axes: `draw` counts continuations that are followed side by side. A piece with one draw is a past that all
of them share: it is read once for all, never copied per draw.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from inctnp.notation import Rows

FUSED_FROM = 1 << 18
"""Scores per head from which the fused kernel wins over two plain products; never for its bfloat16 gradient."""
TOGETHER = 96
"""Queries that go through the plain path at once under a mask, so that keys none of them may see cost nothing."""
MOST_SCORES = 1 << 26
"""Scores held at once by the plain path; longer questions are answered in parts."""


def attend(
    query: Float[Tensor, "batch head draw query depth"],
    pieces: Sequence[Rows],
    may_see: Bool[Tensor, "query newest"] | None = None,
) -> Float[Tensor, "batch head draw query depth"]:
    """Mix the values of all pieces, oldest first, under one softmax.

    `may_see` speaks of the newest rows, at most those of the last piece; what is older is open to every query.
    """
    queries = query.shape[-2]
    if len(pieces) == 1 and pieces[0].shape[3] == query.shape[2]:
        slow_gradient = query.requires_grad and query.dtype == torch.bfloat16
        if queries > 1 and queries * pieces[0].shape[-2] >= FUSED_FROM and not slow_gradient:
            return _fused(query, pieces[0], may_see)
        return _plain(query, pieces[0], may_see)
    per_query = query.shape[:3].numel() * sum(piece.shape[-2] for piece in pieces)
    if queries > 1 and queries * per_query > MOST_SCORES:
        half = queries // 2
        first = attend(query[..., :half, :], pieces, None if may_see is None else may_see[:half])
        rest = attend(query[..., half:, :], pieces, None if may_see is None else may_see[half:])
        return torch.cat([first, rest], dim=-2)
    return _merged(query, pieces, may_see)


def _plain(query: Tensor, rows: Tensor, may_see: Tensor | None) -> Tensor:
    """Two matrix products: fastest for one query and for short sequences, where calls cost more than bytes."""
    q = query.flatten(0, 2)
    key, value = rows.flatten(1, 3).unbind(0)
    if may_see is None:
        return _products(q, key, value).view(query.shape)
    return _Masked.apply(q, key, value, may_see).view(query.shape)


class _Masked(torch.autograd.Function):
    """Attention under a mask, some queries at a time, each block reading no keys that none of its queries may see.

    The gradient is written out because the automatic one pads that of every block with zeros to all keys.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, may_see: Tensor) -> Tensor:
        older = key.shape[-2] - may_see.shape[-1]
        weights: list[Tensor] = []
        parts: list[Tensor] = []
        for some, visible in zip(query.split(TOGETHER, dim=1), may_see.split(TOGETHER), strict=True):
            columns = visible.any(dim=0).nonzero()
            newest = int(columns[-1]) + 1 if len(columns) else 0
            end = older + newest
            weight = _weights(some, key[:, :end], visible[:, :newest] if newest else None)
            parts.append(torch.bmm(weight, value[:, :end]))
            if any(ctx.needs_input_grad):
                weights.append(weight)
        ctx.save_for_backward(query, key, value, *weights)
        return torch.cat(parts, dim=1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, *weights = ctx.saved_tensors
        scaled = query * query.shape[-1] ** -0.5
        to_query: list[Tensor] = []
        to_key, to_value = torch.zeros_like(key), torch.zeros_like(value)
        blocks = zip(weights, scaled.split(TOGETHER, dim=1), gradients[0].split(TOGETHER, dim=1), strict=True)
        for weight, some, gradient in blocks:
            end = weight.shape[-1]
            to_value[:, :end] += torch.bmm(weight.mT, gradient)
            through = torch.bmm(gradient, value[:, :end].mT)
            to_scores = torch._softmax_backward_data(through, weight, -1, weight.dtype)
            to_query.append(torch.bmm(to_scores, key[:, :end]))
            to_key[:, :end] += torch.bmm(to_scores.mT, some)
        return torch.cat(to_query, dim=1).mul_(query.shape[-1] ** -0.5), to_key, to_value, None


def _products(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.bmm(_weights(query, key, None), value)


def _weights(query: Tensor, key: Tensor, may_see: Tensor | None) -> Tensor:
    """Shares of each key in each answer."""
    scores = torch.baddbmm(query.new_empty(1), query, key.mT, beta=0.0, alpha=query.shape[-1] ** -0.5)
    if may_see is not None:
        hidden = ~may_see
        some = hidden.any(dim=0).nonzero()
        # Most keys are open to all: only from the first that is not do scores have to be touched.
        first = int(some[0]) if len(some) else may_see.shape[1]
        scores[..., key.shape[-2] - may_see.shape[1] + first :].masked_fill_(hidden[:, first:], -math.inf)
    return torch.softmax(scores, dim=-1)


def _hidden(may_see: Tensor, keys: int, like: Tensor) -> Tensor:
    """What is added to the scores: minus infinity where a query may not look."""
    bias = like.new_zeros(may_see.shape[0], keys)
    bias[:, keys - may_see.shape[1] :].masked_fill_(~may_see, -math.inf)
    return bias


def _fused(query: Tensor, rows: Tensor, may_see: Tensor | None) -> Tensor:
    """PyTorch's blocked kernel: no score matrix, so long sequences stay in the processor's caches."""
    q, (key, value) = query.flatten(1, 2), rows.flatten(2, 3).unbind(0)
    if may_see is None:
        return F.scaled_dot_product_attention(q, key, value).view(query.shape)
    bias = _hidden(may_see, key.shape[-2], q)
    return F.scaled_dot_product_attention(q, key, value, attn_mask=bias).view(query.shape)


def _merged(query: Tensor, pieces: Sequence[Tensor], may_see: Tensor | None) -> Tensor:
    """Scores of every piece side by side, one softmax, then each piece's values."""
    query = query / math.sqrt(query.shape[-1])
    scores = torch.cat([_scores(query, piece[0]) for piece in pieces], dim=-1)
    if may_see is not None:
        scores = scores + _hidden(may_see, scores.shape[-1], scores)
    weights = torch.softmax(scores, dim=-1).split([piece.shape[-2] for piece in pieces], dim=-1)
    mixed = _mix(weights[0], pieces[0][1])
    for weight, piece in zip(weights[1:], pieces[1:], strict=True):
        mixed = mixed + _mix(weight, piece[1])
    return mixed


def _scores(query: Tensor, key: Tensor) -> Tensor:
    if key.shape[2] == query.shape[2]:
        return query @ key.mT
    return (query.flatten(2, 3) @ key.squeeze(2).mT).unflatten(2, query.shape[2:4])


def _mix(weight: Tensor, value: Tensor) -> Tensor:
    if value.shape[2] == weight.shape[2]:
        return weight @ value
    return (weight.flatten(2, 3) @ value.squeeze(2)).unflatten(2, weight.shape[2:4])
