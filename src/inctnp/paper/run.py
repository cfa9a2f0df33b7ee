"""From an artefact to its rows: what is there already is kept, what is missing is measured and appended."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import inctnp
from inctnp.metrics.score import mean_over_tasks
from inctnp.paper.artefact import Artefact
from inctnp.paper.cast import Cast
from inctnp.paper.cells import DIGITS, Cell, Values
from inctnp.paper.ledger import Ledger, Row
from inctnp.paper.results import Results

Tick = Callable[[int, int, Cell], None]
"""Told before each measurement: its number, how many there are, and the cell."""


@dataclass(frozen=True)
class Outcome:
    """What there is of an artefact after a run."""

    artefact: Artefact
    scale: str
    results: Results
    absent: dict[tuple[str, str], str]
    """What is not there, by place and model, and why."""
    planned: int
    measured: int
    """Rows that this run added."""

    @property
    def complete(self) -> bool:
        return len(self.results.rows) == self.planned

    @property
    def seconds(self) -> float:
        """Of the processor, over all runs, whatever else it was doing."""
        return float(sum(row["seconds"] for row in self.results.rows))


def ledger_of(artefact: Artefact, scale: str, out: Path) -> Ledger:
    """The file of an artefact's rows."""
    return Ledger(out / "rows" / scale / f"{artefact.study}.jsonl")


def compute(artefact: Artefact, scale: str, cast: Cast, out: Path, tick: Tick = lambda i, n, cell: None) -> Outcome:
    """Measure what is not yet measured; an interruption loses the measurement at hand and nothing else."""
    cells, ledger = list(artefact.plan(artefact.at(scale), cast)), ledger_of(artefact, scale, out)
    done = ledger.read()
    todo = [cell for cell in cells if cell.key(artefact.study) not in done and not cell.blocked]
    for number, cell in enumerate(todo):
        tick(number, len(todo), cell)
        row = measured_row(artefact, scale, cell)
        ledger.append(row)
        done[row["key"]] = row
    return _outcome(artefact, scale, cells, done, len(todo))


def collect(artefact: Artefact, scale: str, cast: Cast, out: Path) -> Outcome:
    """What there is, without measuring anything."""
    cells = list(artefact.plan(artefact.at(scale), cast))
    return _outcome(artefact, scale, cells, ledger_of(artefact, scale, out).read(), 0)


def measured_row(artefact: Artefact, scale: str, cell: Cell) -> Row:
    """Take one measurement and write down everything it depends on."""
    start = time.process_time()
    values = dict(cell.measure())
    seconds = time.process_time() - start
    player = cell.player
    return {
        "key": cell.key(artefact.study),
        "study": artefact.study,
        "scale": scale,
        "labels": dict(cell.labels),
        "model": {"name": player.name, "weights": player.origin, **player.facts},
        "setup": dict(cell.setup),
        "setup_hash": cell.setup_hash,
        "values": _finite(values),
        "summary": _summary(values),
        "seconds": round(seconds, 3),
        "threads": torch.get_num_threads(),
        "versions": {"inctnp": inctnp.__version__, "torch": torch.__version__},
    }


def _outcome(artefact: Artefact, scale: str, cells: Sequence[Cell], done: dict[str, Row], measured: int) -> Outcome:
    keys = [cell.key(artefact.study) for cell in cells]
    results = Results(tuple(done[key] for key in keys if key in done))
    absent: dict[tuple[str, str], str] = {}
    for cell, key in zip(cells, keys, strict=True):
        if key not in done:
            where = str(cell.labels.get("data", ""))
            absent.setdefault((where, cell.player.model), cell.blocked or "not computed yet")
    return Outcome(artefact, scale, results, absent, len(cells), measured)


def _summary(values: Values) -> dict[str, Any]:
    """Mean, standard error and number of units of everything that was measured more than once."""
    scores = {name: mean_over_tasks(torch.tensor(v)) for name, v in values.items() if isinstance(v, list) and v}
    return {
        name: {"mean": _number(s.mean), "sem": _number(s.sem), "units": s.tasks} for name, s in sorted(scores.items())
    }


def _finite(values: Values) -> dict[str, Any]:
    return {
        name: [_number(v) for v in value] if isinstance(value, list) else _number(value)
        for name, value in values.items()
    }


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinity; counts stay exact, for the degree of their growth is read off them."""
    if not math.isfinite(value):
        return None
    return value if float(value).is_integer() else float(f"{value:.{DIGITS}g}")
