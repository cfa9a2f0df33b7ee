"""The unit of work of an artefact: one measurement that is computed once, kept as a row and never computed again."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from inctnp.paper.cast import Player

Value = float | list[float]
Values = Mapping[str, Value]
"""Names to a number, or to one number for each independent unit (a task, a batch, an order) that was measured."""
Labels = Mapping[str, Any]
DIGITS = 7
"""Significant digits kept: far below any standard error."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One measurement: what tells it apart, what decides its numbers, and how to take it."""

    labels: Labels
    """Where the numbers belong: model, data, part and so on."""
    setup: Mapping[str, Any]
    """Everything else that decides the numbers, as plain values."""
    player: Player
    measure: Callable[[], Values]
    missing: str = field(default="")
    """Why the data cannot be had; empty if they can."""

    @property
    def blocked(self) -> str:
        """Why this cannot be measured here; empty if it can."""
        return self.player.blocked or self.missing

    @property
    def setup_hash(self) -> str:
        return _digest(self.setup)

    def key(self, study: str) -> str:
        """Equal keys, equal numbers."""
        return _digest([study, dict(self.labels), self.setup, self.player.origin])


def parts_of(units: int, size: int) -> list[tuple[int, range]]:
    """Units in parts of one size, numbered, the last one shorter: the steps in which long work is kept.

    >>> parts_of(5, 2)
    [(0, range(0, 2)), (1, range(2, 4)), (2, range(4, 5))]
    """
    return [(i, range(start, min(start + size, units))) for i, start in enumerate(range(0, units, size))]


def listed(values: Tensor | Sequence[float]) -> list[float]:
    """Numbers for a row."""
    flat = values.flatten().tolist() if isinstance(values, Tensor) else list(values)
    return [float(f"{value:.{DIGITS}g}") for value in flat]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
