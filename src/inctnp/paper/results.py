"""Rows as answers: scores, and differences between models on the same tasks."""

import json
import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from inctnp.metrics.score import Score, mean_over_tasks
from inctnp.paper.ledger import Row


@dataclass(frozen=True)
class Results:
    """The rows of one artefact, in the order in which they were planned."""

    rows: tuple[Row, ...]

    def where(self, **labels: Any) -> "Results":
        """The rows that bear these labels."""
        wanted = labels.items()
        return Results(tuple(row for row in self.rows if all(row["labels"].get(key) == value for key, value in wanted)))

    def labels(self, key: str) -> list[Any]:
        """Every value of a label, once, in order."""
        return list(dict.fromkeys(row["labels"][key] for row in self.rows if key in row["labels"]))

    def units(self, name: str) -> Tensor:
        """All numbers of this name, row after row."""
        found = [row["values"][name] for row in self.rows if name in row["values"]]
        parts = [values if isinstance(values, list) else [values] for values in found]
        flat = [math.nan if value is None else value for part in parts for value in part]
        return torch.tensor(flat, dtype=torch.float64)

    def score(self, name: str) -> Score | None:
        """Their mean and its standard error; None where nothing was measured."""
        values = self.units(name)
        return mean_over_tasks(values) if len(values) else None

    def number(self, name: str) -> float | None:
        """A value that was measured once."""
        values = self.units(name)
        return values[0].item() if len(values) else None

    def names(self) -> list[str]:
        """Every name of a value, once, in order."""
        return list(dict.fromkeys(name for row in self.rows for name in row["values"]))

    def difference(self, other: "Results", name: str, other_name: str = "", factor: float = 1.0) -> Score | None:
        """Mean of `factor` times this minus the other, unit by unit of what both met: less noisy than two means."""
        mine, theirs = self._by_part(name), other._by_part(other_name or name)
        shared = [part for part in mine if part in theirs and len(mine[part]) == len(theirs[part])]
        apart = [factor * a - b for part in shared for a, b in zip(mine[part], theirs[part], strict=True)]
        return mean_over_tasks(torch.tensor(apart, dtype=torch.float64)) if apart else None

    def _by_part(self, name: str) -> dict[tuple[int, str], list[float]]:
        """Equal parts of unequal sources hold different tasks, so the source belongs to the part."""
        parts = (
            (row["labels"].get("part", 0), json.dumps(row["setup"].get("source"), sort_keys=True)) for row in self.rows
        )
        found = zip(parts, (row["values"].get(name) for row in self.rows), strict=True)
        return {part: values if isinstance(values, list) else [values] for part, values in found if values is not None}
