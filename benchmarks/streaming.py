"""What a row, a question, draws and a joint density cost: `python -m benchmarks.streaming [--json FILE] [--threads N]`.

Every line compares, in one run and with the same weights, this library with (a) encoding everything again and (b) a
cache that grows by copying and projects the cross-attention keys at every question.
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
from benchmarks.timing import interleaved, machine, peak_bytes
from inctnp import ModelConfig, build
from inctnp.models.inc_tnp import CachedContext, IncTNP

FEATURES = 20
SIZES = (100, 1000, 10_000, 30_000)
DRAWS, DRAWN_TARGETS, SCORED_TARGETS = 50, 50, 128
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
            "copy": lambda: self.copying.sample(self.copied, xt, DRAWS),
        }

    def score(self) -> Variants:
        xt, yt = points(SCORED_TARGETS, seed=5)
        return {
            "ours": lambda: self.model.joint_log_prob(self.context, xt, yt),
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
        if size == 1000:
            work[f"{DRAWS} joint draws of {DRAWN_TARGETS}"] = cases.draw()
            work[f"joint density of {SCORED_TARGETS}"] = cases.score()
        for name, variants in work.items():
            timings = interleaved(variants, repeats)
            for variant, timing in timings.items():
                yield {"work": name, "rows": size, "variant": variant, **asdict(timing)}
            if "joint" in name:
                for variant, run in variants.items():
                    yield {"work": f"{name}, peak memory", "rows": size, "variant": variant, "bytes": peak_bytes(run)}
        yield {"work": "cache", "rows": size, "variant": "ours", "bytes": cases.context.nbytes}
        yield {"work": "cache", "rows": size, "variant": "copy", "bytes": cases.copied.nbytes}


def sampling_rows(context: CachedContext) -> int:
    """Rows that joint sampling holds in caches: the stream once, and each draw's own targets."""
    return len(context) + DRAWS * (DRAWN_TARGETS - 1)


def table(rows: list[dict[str, Any]]) -> Table:
    """One line per piece of work, variants side by side with their ratio to ours."""
    shown = Table(title="Milliseconds (median); in brackets the ratio to ours", caption=str(machine()))
    for column in ("work", "rows", "ours", "encode again (a)", "copying cache (b)", "read once"):
        shown.add_column(column, justify="left" if column == "work" else "right")
    grouped: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
    for row in rows:
        grouped.setdefault((row["work"], row["rows"]), {})[row["variant"]] = row
    for (work, size), variants in grouped.items():
        cells = [_cell(variants.get(name), variants["ours"]) for name in ("ours", "again", "copy", "read once")]
        shown.add_row(work, f"{size:,}", *cells)
    return shown


def _cell(row: dict[str, Any] | None, ours: dict[str, Any]) -> str:
    if row is None:
        return "-"
    if "bytes" in row:
        return "-" if row["bytes"] is None else f"{row['bytes'] / 1e6:.1f} MB"
    ratio = "" if row is ours else f" ({row['median'] / ours['median']:.1f}x)"
    return f"{row['median'] * 1e3:.2f}{ratio}"


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
    Console(width=130).print(table(rows))
    if asked.json:
        asked.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
