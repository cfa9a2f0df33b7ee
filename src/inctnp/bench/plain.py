"""The training pass as one would write it down first: full masks, one product for each of query, key and value."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from inctnp.models.inc_tnp import IncTNP
from inctnp.predictive.base import Predictive
from inctnp.transformer.block import AttentionBlock


def dense(model: IncTNP, x: Tensor, y: Tensor) -> Predictive:
    """Every point but the first from those before it, for models without a prior token.  (Eq. 4)"""
    seen, asked = model.embed.seen(x[:, :-1], y[:, :-1]), model.embed.asked(x[:, 1:])
    hidden = torch.ones(seen.shape[1], seen.shape[1], dtype=torch.bool).triu(1)
    for attend_self, attend_cross in zip(model.stack.self_blocks, model.stack.cross_blocks, strict=True):
        seen = _block(attend_self, seen, seen, hidden)
        asked = _block(attend_cross, asked, seen, hidden)
    return model.decoder(asked)


def _block(block: AttentionBlock, tokens: Tensor, others: Tensor, hidden: Tensor) -> Tensor:
    batch, points, width = tokens.shape
    for_query, for_key, for_value = block.project.weight.split(width)

    def heads(given: Tensor, weight: Tensor) -> Tensor:
        return F.linear(block.norm1(given), weight).view(batch, -1, block.heads, width // block.heads).transpose(1, 2)

    query, key, value = heads(tokens, for_query), heads(others, for_key), heads(others, for_value)
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    mixed = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ value
    tokens = tokens + block.out(mixed.transpose(1, 2).reshape(batch, points, width))
    return tokens + block.down(torch.relu(block.up(block.norm2(tokens))))
