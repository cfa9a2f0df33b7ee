"""What a row, a question, draws and a joint density cost: `python -m benchmarks.streaming [--json FILE] [--threads N]`.

Every line compares, in one run and with the same weights, this library with (a) encoding everything again and (b) a
cache that grows by copying and projects the cross-attention keys at every question. Draws do not depend on each other,
so (a) draws one of them and its time is multiplied.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.copying import CopyingIncTNP
from benchmarks.timing import interleaved, machine
from inctnp import ModelConfig, build
from inctnp.models.inc_tnp import IncTNP
from inctnp.streaming.recompute import joint_log_prob_step_by_step, sample_step_by_step

FEATURES = 20
SIZES = (100, 1000, 10_000, 30_000)
DRAWS, DRAWN_TARGETS, SCORED_TARGETS = 50, 50, 128
JOINT_AT = 1000
"""Rows seen when draws and joint densities are timed."""
DRAWING, HELD = f"{DRAWS} joint draws of {DRAWN_TARGETS}", "held"
Variants = dict[str, Callable[[], Any]]


def points(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Standard normal rows of one stream."""
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(1, count, FEATURES, generator=rng), torch.randn(1, count, 1, generator=rng)


class Cases:
    """The work to be timed at one length of the stream."""

    def __init__(self, model: IncTNP, size: int) -> None:
        self.model, self.size = model, size
        self.copying = CopyingIncTNP(model)
        self.x, self.y = points(size, seed=size)
        self.context = model.extend(model.empty(1), self.x, self.y)
        # One more row, so that the buffer has room and an update is the usual one.
        self.context = model.extend(self.context, *points(1, seed=1))
        self.copied = self.copying.extend(None, self.x, self.y)

    def update(self) -> Variants:
        x, y = points(1, seed=2)
        both = torch.cat([self.x, x], dim=1), torch.cat([self.y, y], dim=1)
        return {
            "ours": self._append(x, y),
            "again": lambda: self.model.extend(self.model.empty(1), *both),
            "copy": lambda: self.copying.extend(self.copied, x, y),
            "read once": self._read_once,
        }

    def ask(self, targets: int) -> Variants:
        xt, _ = points(targets, seed=3)
        return {
            "ours": lambda: self.model.query(self.context, xt),
            "again": lambda: self.model.query(self.model.extend(self.model.empty(1), self.x, self.y), xt),
            "copy": lambda: self.copying.query(self.copied, xt),
        }

    def draw(self) -> Variants:
        xt, _ = points(DRAWN_TARGETS, seed=4)
        return {
            "ours": lambda: self.model.joint_sample(self.context, xt, DRAWS),
            "again": lambda: sample_step_by_step(self.model, self.x, self.y, xt, 1),
            "copy": lambda: self.copying.sample(self.copied, xt, DRAWS),
        }

    def score(self) -> Variants:
        xt, yt = points(SCORED_TARGETS, seed=5)
        return {
            "ours": lambda: self.model.joint_log_prob(self.context, xt, yt),
            "again": lambda: joint_log_prob_step_by_step(self.model, self.x, self.y, xt, yt),
            "copy": lambda: self.copying.joint_log_prob(self.copied, xt, yt),
        }

    def _append(self, x: torch.Tensor, y: torch.Tensor) -> Callable[[], None]:
        """Append and take the row back, both free of copies, so that every repeat starts from the same length."""

        def run() -> None:
            longer = self.model.extend(self.context, x, y)
            longer.cache.views[-1].block.filled -= 1

        return run

    def _read_once(self) -> torch.Tensor:
        """Touch every key and value of the self-attention once: what an update cannot be faster than."""
        layers = self.model.stack.layers
        cache = self.context.cache
        return torch.stack([cache.pieces(layers + i, torch.float32)[0].sum() for i in range(layers)])


def measure(model: IncTNP, sizes: tuple[int, ...], repeats: int) -> Iterator[dict[str, Any]]:
    """One row per question and length."""
    for size in sizes:
        cases = Cases(model, size)
        work: dict[str, Variants] = {
            "update, 1 row": cases.update(),
            "query, 1 target": cases.ask(1),
            "query, 250 targets": cases.ask(250),
        }
        if size == JOINT_AT:
            work[DRAWING] = cases.draw()
            work[f"joint density of {SCORED_TARGETS}"] = cases.score()
        for name, variants in work.items():
            for variant, timing in interleaved(variants, repeats).items():
                one_of_many = name == DRAWING and variant == "again"
                spent = timing.times(DRAWS) if one_of_many else timing
                yield {"work": name, "rows": size, "variant": variant, **asdict(spent)}
        yield {"work": HELD, "rows": size, "variant": "ours", "peak": cases.context.nbytes}
        yield {"work": HELD, "rows": size, "variant": "copy", "peak": cases.copied.nbytes}


def tables(rows: list[dict[str, Any]]) -> Iterator[Table]:
    """Times, then memory: one line per piece of work, variants side by side with their ratio to ours."""
    grouped: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
    for row in rows:
        grouped.setdefault((row["work"], row["rows"]), {})[row["variant"]] = row
    timed = {key: variants for key, variants in grouped.items() if key[0] != HELD}
    yield _table("Milliseconds (median); in brackets the ratio to ours", timed, _time)
    yield _table("Megabytes held by the context, and needed on top of it by the work", grouped, _megabytes)


def _table(title: str, grouped: dict[tuple[str, int], dict[str, dict[str, Any]]], cell: Callable[..., str]) -> Table:
    shown = Table(title=title, caption=str(machine()))
    for column in ("work", "rows", "ours", "encode again (a)", "copying cache (b)", "read once"):
        shown.add_column(column, justify="left" if column == "work" else "right")
    for (work, size), variants in grouped.items():
        cells = [
            cell(variants[name], variants["ours"]) if name in variants else "-"
            for name in ("ours", "again", "copy", "read once")
        ]
        shown.add_row(work, f"{size:,}", *cells)
    return shown


def _time(row: dict[str, Any], ours: dict[str, Any]) -> str:
    ratio = "" if row is ours else f" ({row['median'] / ours['median']:.1f}x)"
    return f"{row['median'] * 1e3:.2f}{ratio}"


def _megabytes(row: dict[str, Any], _: dict[str, Any]) -> str:
    return "-" if row["peak"] is None else f"{row['peak'] / 1e6:.1f}"


def main() -> None:
    """Measure, print, and on request write the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    torch.manual_seed(0)
    model = build(ModelConfig(name="inctnp-seq", dim_x=FEATURES)).eval().requires_grad_(False)
    assert isinstance(model, IncTNP)
    with torch.inference_mode():
        rows = list(measure(model, tuple(asked.sizes), asked.repeats))
    Console(width=130).print(*tables(rows))
    if asked.json:
        asked.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
