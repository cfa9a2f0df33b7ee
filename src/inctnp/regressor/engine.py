"""Who computes for a regressor: the model, or compiled code where that is worth loading."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Tensor

from inctnp.fused.backend import WORTH_IT, Backend, choose_backend
from inctnp.models.base import NeuralProcess

FEW = 8
"""So many rows are done sooner one by one by compiled code than together by the model."""


@dataclass(frozen=True)
class Engine:
    """A model, how its keys and values are kept, and a choice of backend.

    Who computes depends on the settings and on the rows learned so far, so a stream that was saved goes on as it
    would have.
    """

    model: NeuralProcess
    storage: str = "exact"
    backend: str = "auto"

    @cached_property
    def compiled(self) -> Backend:
        """Compiled code if it may be used, else the model."""
        chosen = choose_backend(self.backend, self.model)
        return chosen if chosen is self.model else choose_backend("fused", self.model)

    def rows(self, known: int) -> Backend:
        """Who answers single rows of a stream that has learned so many."""
        return self.model if self.backend == "auto" and known < WORTH_IT else self.compiled

    def extend(self, known: int, context: Any, x: Tensor, y: Tensor) -> Any:
        """The context with some more rows."""
        backend = self.rows(known)
        if backend is self.model or len(x) > FEW:
            return self.model.extend(context, x, y)
        for i in range(len(x)):
            context = backend.extend(context, x[i : i + 1], y[i : i + 1])
        return context
