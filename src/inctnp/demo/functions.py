"""What `inctnp demo --functions` shows: many streams predicted row by row, beside the best predictions there can be."""

import time
from dataclasses import dataclass
from pathlib import Path

import torch

from inctnp.generators.gp import GPTasks, GPTruth
from inctnp.pretrained.registry import load
from inctnp.streaming.session import Stream
from inctnp.task import Task

MODEL = "rbf-64/inctnp-seq"
SEED = 3_000_017
"""Of the demonstration's streams, which no training or reported test uses."""
STREAMS, ROWS = 64, 64
STAGES = ((1, 7), (8, 15), (16, 31), (32, 63))
"""Rows, counted from 0 and both included, over which scores are averaged."""
PICTURED = (1, 4, 12, 40)


@dataclass(frozen=True)
class Stage:
    """Mean scores over some rows of all streams, each row predicted before it was learned."""

    first: int
    last: int
    log_score: float
    best_log_score: float
    coverage: float
    """Share of outcomes inside the 90 % interval."""


@dataclass(frozen=True)
class Demonstration:
    """What the demonstration measured."""

    stages: list[Stage]
    seconds_per_row: float
    """Of one stream fed alone: predict, then learn."""


def demonstrate() -> Demonstration:
    """Stream functions from Gaussian processes that the model was never shown."""
    model = load(MODEL)
    task = GPTasks(batch_size=STREAMS, context=(ROWS, ROWS), targets=1, shared_kernel=False, seed=SEED).batch(0)
    assert isinstance(task.truth, GPTruth)
    streams = model.stream(batch=STREAMS)
    scores, best, inside = [], [], []
    for row in range(ROWS):
        x, y = task.xc[:, row], task.yc[:, row]
        if row:
            p = streams.predict(x)
            low, high = p.interval(0.9)
            scores.append(p.log_prob(y).mean())
            inside.append(((low <= y) & (y <= high)).float().mean())
            asked = Task(xc=task.xc[:, :row], yc=task.yc[:, :row], xt=x[:, None], yt=y[:, None])
            best.append(task.truth.factorised_log_prob(asked).mean())
        streams.observe(x, y)
    averages = [torch.stack(values).double() for values in (scores, best, inside)]
    stages = [Stage(a, b, *(values[a - 1 : b].mean().item() for values in averages)) for a, b in STAGES]
    return Demonstration(stages, _seconds_per_row(model.stream(), task))


def draw(path: Path) -> None:
    """One stream, pictured after a few rows: bands of the model, and lines of the exact posterior."""
    import matplotlib.pyplot as plt

    task = GPTasks(batch_size=1, context=(ROWS, ROWS), targets=1, lengthscales=(0.4, 0.4), seed=SEED).batch(5)
    assert isinstance(task.truth, GPTruth)
    stream = load(MODEL).stream()
    grid = torch.linspace(-2, 2, 200)[:, None]
    figure, axes = plt.subplots(1, len(PICTURED), figsize=(13, 3), sharey=True, layout="constrained")
    for axis, rows in zip(axes, PICTURED, strict=True):
        stream.observe(task.xc[0, len(stream) : rows], task.yc[0, len(stream) : rows])
        p = stream.predict(grid)
        asked = Task(xc=task.xc[:, :rows], yc=task.yc[:, :rows], xt=grid[None], yt=torch.zeros(1, 200, 1))
        mean, std = (value[0] for value in task.truth.predict(asked))
        x = grid[:, 0]
        for level, shade in ((0.95, 0.2), (0.5, 0.35)):
            low, high = p.interval(level)
            axis.fill_between(x, low[:, 0], high[:, 0], color="tab:blue", alpha=shade, linewidth=0)
        axis.plot(x, p.mean[:, 0], color="tab:blue", label="inctnp: mean, 50 % and 95 %")
        axis.plot(x, mean - 1.96 * std, color="black", linewidth=0.8, linestyle="--", label="exact 95 %")
        axis.plot(x, mean + 1.96 * std, color="black", linewidth=0.8, linestyle="--")
        axis.plot(task.xc[0, :rows, 0], task.yc[0, :rows, 0], "o", color="tab:red", markersize=3.5, label="rows seen")
        axis.set_title(f"after {rows} row{'s' * (rows > 1)}")
        axis.set_xlim(-2, 2)
    axes[-1].legend(loc="lower left", fontsize=7, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _seconds_per_row(stream: Stream, task: Task) -> float:
    x, y = task.xc[0], task.yc[0]
    stream.observe(x[0], y[0])
    start = time.perf_counter()
    for row in range(1, ROWS):
        stream.predict(x[row])
        stream.observe(x[row], y[row])
    return (time.perf_counter() - start) / (ROWS - 1)
