"""Which settings of `StreamingRegressor` help across streams: `python -m benchmarks.regressor_defaults`.

Every stream is learned in its order with every choice of settings; each choice is one step away from the defaults.
Choices are judged over all streams together, never for one.
"""

import math
import time
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import torch
import typer

from inctnp.errors import MissingDataError
from inctnp.pretrained.registry import load
from inctnp.quality.streams import Example, source
from inctnp.regressor import StreamingRegressor
from inctnp.regressor.monitor import Scores

REAL = ("airline", "chicks", "approval", "water", "skillcraft", "powerplant", "protein", "elevators", "trentino")
CHOICES: dict[str, dict[str, Any]] = {
    "default": {},
    "no advice": {"advice": False},
    "residual": {"views": ("residual",)},
    "both views": {"views": ("direct", "residual")},
    "no blend": {"blend": False},
    "neither": {"advice": False, "blend": False},
    "no lags": {"lags": ()},
    "lags 1, 2, 24": {"lags": (1, 2, 24)},
    "recency": {"recency": True},
    "calibrated": {"normalisation": "calibrated"},
    "window 256": {"max_points": 256},
    "temperature": {"recalibration": "temperature"},
    "conformal": {"recalibration": "conformal"},
}


UNSCORED = 10


def drifting(rows: int, rng: np.random.Generator) -> list[Example]:
    """A linear relation whose coefficients wander, and jump once."""
    weights = rng.normal(size=3)
    table = []
    for i in range(rows):
        weights = weights + 0.03 * rng.normal(size=3) - (2 * weights if i == rows // 2 else 0)
        x = rng.normal(size=3)
        table.append(({"a": x[0], "b": x[1], "c": x[2]}, float(x @ weights + 0.2 * rng.normal())))
    return table


def seasonal(rows: int, rng: np.random.Generator) -> list[Example]:
    """Hours of a day and weather on top of a slow level; the hour is a column."""
    level, table = 0.0, []
    for i in range(rows):
        level = 0.95 * level + 0.3 * rng.normal()
        wind = float(rng.gamma(2.0))
        table.append(({"hour": i % 24, "wind": wind}, 20 + 5 * math.sin(i * math.tau / 24) - wind + level))
    return table


def heavy_tailed(rows: int, rng: np.random.Generator) -> list[Example]:
    """A curve with noise of Student's t with two degrees of freedom, wider on one side."""
    x = rng.uniform(-2, 2, size=(rows, 4))
    noise = rng.standard_t(2, size=rows) * np.exp(0.5 * x[:, 1])
    y = np.sin(2 * x[:, 0]) * 3 + x[:, 1] ** 2 + 0.3 * noise
    return [(dict(zip("abcd", row, strict=True)), outcome) for row, outcome in zip(x.tolist(), y.tolist(), strict=True)]


def categorical(rows: int, rng: np.random.Generator) -> list[Example]:
    """Shops of very different size, kinds of days, and many missing values."""
    size = rng.lognormal(3.0, 1.0, size=30)
    table: list[Example] = []
    for _ in range(rows):
        shop, day = int(rng.integers(30)), str(rng.choice(["work", "sale", "holiday"], p=[0.7, 0.2, 0.1]))
        stock = float(rng.uniform()) if rng.random() < 0.6 else None
        factor = {"work": 1.0, "sale": 1.8, "holiday": 0.3}[day] * (1.0 if stock is None else 0.5 + stock)
        table.append(({"shop": f"s{shop}", "day": day, "stock": stock}, float(rng.poisson(size[shop] * factor))))
    return table


MADE: dict[str, Callable[[int, np.random.Generator], list[Example]]] = {
    "drifting": drifting,
    "seasonal": seasonal,
    "heavy tailed": heavy_tailed,
    "categorical": categorical,
}


def streams(rows: int) -> dict[str, list[Example]]:
    """Real ones as far as their data are here, and made ones."""
    found: dict[str, list[Example]] = {}
    for name in REAL:
        try:
            found[name] = source(name).rows(rows)
        except MissingDataError as error:
            typer.echo(f"{name} is left out: {error}", err=True)
    for name, make in MADE.items():
        found[name] = make(rows, np.random.default_rng(sum(name.encode())))
    return found


def scored(model: Any, examples: list[Example], settings: dict[str, Any]) -> Scores:
    """Of every row, predicted before it was learned, but for the first few: their unit is anybody's guess."""
    r = StreamingRegressor(model, **settings)
    r.learn([row for row, _ in examples[:UNSCORED]], [y for _, y in examples[:UNSCORED]])
    r.monitor.begin_again()
    r.learn([row for row, _ in examples[UNSCORED:]], [y for _, y in examples[UNSCORED:]])
    return r.monitor.scores


def line(name: str, scores: dict[str, Scores], base: dict[str, Scores]) -> str:
    """Means over the streams, and how many of them are better in log score than with the defaults."""
    gains = [scores[s].log_score - base[s].log_score for s in base]
    crps = math.exp(np.mean([math.log(scores[s].crps / base[s].crps) for s in base]))
    rmse = math.exp(np.mean([math.log(scores[s].rmse / base[s].rmse) for s in base]))
    covered = [scores[s].coverage for s in base]
    off = np.mean([abs(each - 0.9) for each in covered])
    better = sum(gain > 0 for gain in gains)
    return (
        f"| {name} | {np.mean(gains):+.3f} | {better}/{len(gains)} | {crps:.3f} | {rmse:.3f} | {min(covered):.2f} to "
        f"{max(covered):.2f} | {off:.3f} |"
    )


def main(
    rows: Annotated[int, typer.Option(help="Of each stream.")] = 400,
    model: Annotated[str, typer.Option(help="A shipped model or the folder of one.")] = "tabular",
    only: Annotated[str, typer.Option(help="Choices to try, separated by commas; all if left out.")] = "",
) -> None:
    """Print one line per choice, and the streams one by one for the defaults."""
    torch.set_num_threads(1)
    network, examples, started = load(model), streams(rows), time.perf_counter()
    base = {name: scored(network, table, {}) for name, table in examples.items()}
    typer.echo("| stream | rows | log score | CRPS | RMSE | coverage of 90 % |\n|---|---|---|---|---|---|")
    for name, s in base.items():
        typer.echo(f"| {name} | {s.rows} | {s.log_score:.3f} | {s.crps:.4g} | {s.rmse:.4g} | {s.coverage:.3f} |")
    typer.echo("\n| settings | log score | better | CRPS | RMSE | coverage | off 0.9 |\n|---|---|---|---|---|---|---|")
    for choice in only.split(",") if only else CHOICES:
        scores = {name: scored(network, table, CHOICES[choice]) for name, table in examples.items()}
        typer.echo(line(choice, scores, base))
    typer.echo(f"\n{time.perf_counter() - started:.0f} s", err=True)


if __name__ == "__main__":
    typer.run(main)
