"""The models that ship, and what they were measured to do."""

import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from inctnp.pretrained.registry import ALIASES, HOME, names
from inctnp.pretrained.weights import read_config
from inctnp.report.words import number


@dataclass(frozen=True)
class Shipped:
    """One model."""

    name: str
    alias: str
    """A shorter name for the same, if there is one."""
    steps: int | None
    """Of training."""
    log_likelihood: float | None
    """Mean log-density of outcomes of tasks it was not trained on."""
    gap: float | None
    """How far below the best possible that is, where the best is known."""
    megabytes: float


def shipped() -> list[Shipped]:
    """All of them."""
    found = []
    for name in names():
        about: dict[str, Any] = read_config(HOME / name)["about"]
        held_out = about.get("held_out", {})
        alias = next((short for short, long in ALIASES.items() if long == name), "")
        size = sum(file.stat().st_size for file in (HOME / name).iterdir()) / 1e6
        scores = held_out.get("log_likelihood"), held_out.get("gap")
        found.append(Shipped(name, alias, about.get("steps"), *scores, round(size, 2)))
    return found


def print_models(models: list[Shipped], as_json: bool) -> None:
    """A table, or JSON."""
    if as_json:
        sys.stdout.write(json.dumps([asdict(model) for model in models], indent=2) + "\n")
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("name", "also called"):
        table.add_column(column, no_wrap=True)
    for column in ("steps", "held-out log-likelihood", "gap to the optimum", "MB"):
        table.add_column(column, justify="right")
    for model in models:
        steps = "–" if model.steps is None else f"{model.steps:,}"
        scores = (number(float("nan") if value is None else value) for value in (model.log_likelihood, model.gap))
        table.add_row(model.name, model.alias, steps, *scores, f"{model.megabytes:.1f}")
    Console().print(table)
