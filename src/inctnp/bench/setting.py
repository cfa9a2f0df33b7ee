"""The model and the rows that most benchmarks share: the paper's sizes, twenty features, weights drawn at random.

What weights and rows are changes no time.
"""

from typing import cast

import torch
from torch import Tensor

from inctnp.models.build import build
from inctnp.models.config import ModelConfig
from inctnp.models.inc_tnp import CachedContext, IncTNP
from inctnp.transformer.cache import Cache
from inctnp.transformer.storage import storage_named

FEATURES = 20


def default_model() -> IncTNP:
    """incTNP-Seq as it is published."""
    torch.manual_seed(0)
    return cast(IncTNP, build(ModelConfig(name="inctnp-seq", dim_x=FEATURES)).eval().requires_grad_(False))


def points(count: int, seed: int, features: int = FEATURES) -> tuple[Tensor, Tensor]:
    """Standard normal rows of one stream."""
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(count, features, generator=rng), torch.randn(count, 1, generator=rng)


def with_room(model: IncTNP, size: int, storage: str = "exact") -> CachedContext:
    """A context of so many rows whose buffer has room behind them, so that an update is the usual one."""
    x, y = points(size, seed=size)
    longer = model.extend(model.extend(model.empty(storage=storage), x, y), *points(1, seed=1))
    take_back(longer)
    return longer.truncate(size)


def narrowed(model: IncTNP, context: CachedContext, storage: str) -> CachedContext:
    """The same rows kept in fewer bits, with room behind them."""
    cache = context.cache
    append = Cache(slots=cache.slots, storage=storage_named(storage)).overlay(len(cache))
    for slot in range(cache.slots):
        append.write(slot, torch.cat(cache.pieces(slot, model.dtype), dim=-2))
    made = context.followed_by(append.done())
    longer = model.extend(made, *points(1, seed=1))
    take_back(longer)
    return longer.truncate(len(context))


def take_back(context: CachedContext) -> None:
    """Give the newest row of a buffer up, free of copies, so that every repeat starts from the same length."""
    context.cache.views[-1].block.filled -= 1
