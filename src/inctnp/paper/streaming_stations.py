"""Joint log-likelihood of temperatures while observations stream in.  (Fig. 6, 18)"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import torch

from inctnp.metrics.log_likelihood import JOINT, scores_per_task
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values, listed, parts_of
from inctnp.paper.markdown import Block, table, with_error
from inctnp.paper.plotting import label, legend, name_axes, panels
from inctnp.paper.results import Results
from inctnp.paper.sources import COLLECTIONS, FULL_SIZE, Source, StationSize, station_source
from inctnp.paper.streaming_tables import AT_EACH, draw_lengths, rows_asked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GOALS = ("interpolation", "forecasting")


@dataclass(frozen=True, kw_only=True)
class StationStreamSettings:
    """How many streams, and when they are asked; the default number is the paper's."""

    models: tuple[str, ...] = ("tnp-d", "inctnp", "inctnp-seq", "cnp", "lbanp")
    batches: int = 250
    """Of 8 streams."""
    size: StationSize = FULL_SIZE
    shares: tuple[float, ...] = (0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    """Of the longest stream a collection supports: when the targets are asked."""
    most: int = 2000
    """Longest stream; the paper's."""


def plan(settings: StationStreamSettings, cast: Cast) -> Iterator[Cell]:
    """Every collection, goal and model, a batch of streams at a time."""
    for setting in COLLECTIONS:
        for goal in GOALS:
            source, asked = stream_source(settings, setting, goal)
            for model in settings.models:
                player = cast.find(setting, model)
                for part, steps in parts_of(settings.batches, 1):
                    yield Cell(
                        labels={"data": source.data, "model": model, "part": part},
                        setup={"source": source.setup, "asked": asked},
                        player=player,
                        measure=partial(measure, player, source, steps, asked),
                        missing=source.missing,
                    )


def stream_source(settings: StationStreamSettings, setting: str, goal: str) -> tuple[Source, list[int]]:
    """Tasks with the longest context of a collection, and the lengths at which their prefixes are asked."""
    usual = station_source(setting, goal, settings.size).setup["context"][1]
    longest = min(settings.most, usual)
    source = station_source(setting, goal, replace(settings.size, context=(longest, longest)))
    return source, sorted({max(1, round(share * longest)) for share in settings.shares})


@torch.no_grad()
def measure(player: Player, source: Source, steps: range, asked: Sequence[int]) -> Values:
    """Joint log-likelihood per target of each stream after so many observations, which come in order of time."""
    model, values = player.load(), {}
    for points in asked:
        tasks = [source.batch(step).prefix(points) for step in steps]
        values[f"{AT_EACH}{points}"] = listed(scores_per_task(model, tasks, JOINT))
    return values


def tell(results: Results) -> Iterator[Block]:
    """Scores early, in the middle and at the end."""
    yield (
        "Joint log-likelihood per target, predicted one after the other with the true values fed back; mean ± standard "
        "error over streams. The paper shows HadISD; other collections of stations stand in for it where they are "
        "named."
    )
    for data in results.labels("data"):
        here = results.where(data=data)
        at = rows_asked(here)
        shown = sorted({at[0], at[len(at) // 2], at[-1]})
        lines = [
            [label(m), *(with_error(here.where(model=m).score(f"{AT_EACH}{n}")) for n in shown)]
            for m in here.labels("model")
        ]
        yield f"### {data}"
        yield table(["model", *(f"after {n}" for n in shown)], lines)


def draw(results: Results) -> "Figure":
    """A panel for each goal and collection."""
    kinds = results.labels("data")
    figure, axes = panels(min(2, len(kinds)), rows=-(-len(kinds) // 2), width=4.2)
    for axis, data in zip(axes, kinds, strict=False):
        draw_lengths(axis, results.where(data=data))
        axis.set_xscale("linear")
        name_axes(axis, "observations streamed", "joint log-likelihood", data)
    legend(figure)
    return figure
