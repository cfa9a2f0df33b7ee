"""An incremental model whose single rows take one compiled call; everything else is left to the model.

Both write to and read from the same cache, so rows may be learned by either in any order.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from inctnp.fused.addresses import KINDS, is_one_stream, table_of
from inctnp.fused.weights import Weights, pack
from inctnp.models.base import one_by_one
from inctnp.models.inc_tnp import CachedContext, IncTNP
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.base import Predictive
from inctnp.predictive.gaussian import Gaussian
from inctnp.predictive.mixture import Mixture
from inctnp.transformer.cache import Append, Cache

_version_of = attrgetter("_version")
_packed: WeakKeyDictionary[IncTNP, tuple[int, Weights]] = WeakKeyDictionary()


class FusedProcess:
    """`extend` and `query` of a model, to rounding, and both in one call."""

    def __init__(self, model: IncTNP, least_points: int = 0) -> None:
        """Contexts of fewer than `least_points` are left to the model, so that a short stream compiles nothing."""
        self.model = model
        self.least_points = least_points
        self._parameters = tuple(model.parameters())

    def extend(self, context: CachedContext, x: Inputs, y: Outputs) -> CachedContext:
        append = self._append(context, x, y)
        if append is None:
            return self.model.extend(context, x, y)
        self._step([append.after], x, y, "LEARN")
        return context.followed_by(append.done())

    def query(self, context: CachedContext, xt: Inputs) -> Predictive:
        if not (self._takes(context) and self._is_row(xt, self.model.config.dim_x)):
            return self.model.query(context, xt)
        return self._predictive(self._step([context.cache], xt, None, "ASK"))

    def query_then_extend(self, context: CachedContext, x: Inputs, y: Outputs) -> tuple[Predictive, CachedContext]:
        append = self._append(context, x, y)
        if append is None:
            return self.model.query_then_extend(context, x, y)
        numbers = self._step([append.after], x, y, "ASK_THEN_LEARN")
        return self._predictive(numbers), context.followed_by(append.done())

    def query_then_extend_each(
        self, contexts: Sequence[CachedContext], x: Inputs, y: Outputs
    ) -> tuple[Predictive, list[CachedContext]]:
        appends = [self._append(context, *row) for context, *row in zip(contexts, x.split(1), y.split(1), strict=True)]
        ready = [append for append in appends if append is not None]
        # Who shares a buffer with another of them cannot write to it at the same time.
        buffers, storages = {a.after.views[-1].block for a in ready}, {a.after.storage for a in ready}
        if len(buffers) < len(contexts) or len(storages) > 1:
            return one_by_one(self, contexts, x, y)
        numbers = self._step([append.after for append in ready], x, y, "ASK_THEN_LEARN")
        learned = [context.followed_by(append.done()) for context, append in zip(contexts, ready, strict=True)]
        return self._predictive(numbers), learned

    def _takes(self, context: CachedContext) -> bool:
        """Whether compiled code can read this context: one stream, at least one row, nobody wants gradients."""
        return (
            len(context.cache) > 0
            and len(context) >= self.least_points
            and not context.draws
            and not context.base
            and not torch.is_grad_enabled()
            and is_one_stream(context.cache)
        )

    def _append(self, context: CachedContext, x: Tensor, y: Tensor) -> Append | None:
        """An append whose room is there already; None if the model has to do this one."""
        config = self.model.config
        if not (self._takes(context) and self._is_row(x, config.dim_x) and self._is_row(y, config.dim_y)):
            return None
        append = context.cache.append(1)
        return append if is_one_stream(append.after) else None

    def _is_row(self, values: Tensor, features: int) -> bool:
        return values.shape == (1, features) and values.dtype == torch.float32 and values.device.type == "cpu"

    def _step(self, caches: Sequence[Cache], x: Tensor, y: Tensor | None, what: str) -> Any:
        compiled = _compiled()
        outcomes = np.zeros((len(x), self.model.config.dim_y), np.float32) if y is None else _numbers(y)
        tables, kind = [table_of(cache) for cache in caches], KINDS[caches[0].storage.name]
        return compiled.step(self._weights(), tables, kind, _numbers(x), outcomes, getattr(compiled, what))

    def _weights(self) -> Weights:
        """Packed once for every stream of a model, and again when the model was trained on or loaded into."""
        version = sum(map(_version_of, self._parameters))
        known = _packed.get(self.model)
        if known is None or known[0] != version:
            known = _packed[self.model] = version, pack(self.model)
        return known[1]

    def _predictive(self, numbers: Any) -> Predictive:
        config, values = self.model.config, torch.from_numpy(numbers)
        if config.components == 1:
            return Gaussian(*values.split(config.dim_y, dim=-1))
        return Mixture(*values.view(len(numbers), 3, config.components, config.dim_y).movedim(0, 2).unbind(0))


@cache
def _compiled() -> Any:
    """Loading the compiler takes half a second, so the first row does it."""
    return import_module("inctnp.fused.compiled")


def _numbers(rows: Tensor) -> Any:
    """As contiguous float32 rows: any other layout would be compiled for anew."""
    return np.ascontiguousarray(rows.detach().numpy())
