"""Figure 14: the time of one autoregressive step as the context grows, TNP-A as published and with a cache."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import torch

from inctnp.metrics.cost import CostSettings, autoregressive_cost, measure_seconds, prepare, update_cost
from inctnp.metrics.flops import count_flops
from inctnp.models.tnp_a import TNPA
from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values
from inctnp.paper.cost_curves import FLOPS, SECONDS, SETTING, along, grown, power
from inctnp.paper.markdown import NONE, Block, big, number, table
from inctnp.paper.plotting import colour, label, legend, marker, name_axes, panels
from inctnp.paper.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORIGINAL = "tnp-a-original"
"""TNP-A run anew for every target, nothing cached."""
UPDATE, STEP = "update", "step"


@dataclass(frozen=True, kw_only=True)
class RuntimeSettings:
    """Lengths at which each model is run; the defaults are the paper's sizes."""

    lengths: tuple[int, ...] = (500, 1000, 2000, 5000, 10_000, 20_000)
    most: tuple[tuple[str, int], ...] = ((ORIGINAL, 2000), ("tnp-d", 5000))
    """The longest context of those that would take too long."""
    targets: int = 250
    draws: int = 50
    repeats: int = 1

    def of(self, model: str) -> list[int]:
        """The lengths at which a model is run."""
        most = dict(self.most).get(model, self.lengths[-1])
        return [length for length in self.lengths if length <= most]


PAPER = RuntimeSettings()
CPU = replace(PAPER, lengths=(250, 500, 1000, 2000, 4000), most=((ORIGINAL, 1000), ("tnp-d", 1000)), targets=8, draws=2)
SMOKE = replace(PAPER, lengths=(8, 16, 24), most=(), targets=3, draws=2)


def plan(settings: RuntimeSettings, cast: Cast) -> Iterator[Cell]:
    """A step of each model: the newest point learned, all targets answered; and incTNP's update alone."""
    for row, model in (("inctnp", "inctnp"), ("tnp-d", "tnp-d"), ("tnp-a", "tnp-a"), (ORIGINAL, "tnp-a")):
        player = cast.untrained(SETTING, model)
        yield _cell(settings, row, STEP, player)
    yield _cell(settings, "inctnp", UPDATE, cast.untrained(SETTING, "inctnp"))


@torch.no_grad()
def measure(player: Player, row: str, kind: str, settings: RuntimeSettings) -> Values:
    """Work and seconds at each length."""
    cost = CostSettings(targets=settings.targets, draws=settings.draws, repeats=settings.repeats)
    lengths, values = settings.of(row), {}
    model = player.load()
    if row == ORIGINAL:
        for points in lengths:
            assert isinstance(model, TNPA)
            work = partial(published_unrolls, model, points, cost)
            values[f"{FLOPS}{points}"] = float(count_flops(work))
            values[f"{SECONDS}{points}"] = measure_seconds(work, settings.repeats)
        return values
    parts = [update_cost] if kind == UPDATE else [update_cost, autoregressive_cost]
    for steps in zip(*(part(model, lengths, cost).steps for part in parts), strict=True):
        values[f"{FLOPS}{steps[0].points}"] = float(sum(step.flops for step in steps))
        values[f"{SECONDS}{steps[0].points}"] = sum(step.seconds for step in steps)
    return values


def published_unrolls(model: TNPA, points: int, cost: CostSettings) -> torch.Tensor:
    """Every target in turn, all tokens through the network again each time, as in the published implementation."""
    ready = prepare(model, points, cost)
    context = ready.context.repeated(cost.draws)
    xt = ready.xt.expand(cost.draws, *ready.xt.shape)
    values = torch.zeros(*xt.shape[:-1], 1)
    for i in range(xt.shape[-2]):
        predicted = model.query_published(context, xt[:, : i + 1], values[:, : i + 1])
        values[:, i] = predicted.mean[:, i] + predicted.stddev[:, i]
    return values


def tell(results: Results) -> Iterator[Block]:
    """Seconds and work at the longest context each was run at, and incTNP's there."""
    setup = results.rows[0]["setup"]
    yield (
        f"One step: {setup['targets']} targets predicted one after the other along {setup['draws']} unrolls, on this "
        "processor with random weights (the paper: 250 targets, 50 unrolls, a GPU), after the newest point has become "
        "part of the context."
    )
    base = results.where(model="inctnp", cost=STEP)
    lines = []
    for model in results.labels("model"):
        for kind in results.labels("cost"):
            here = results.where(model=model, cost=kind)
            lengths, seconds = along(here, SECONDS)
            if not lengths:
                continue
            flops = along(here, FLOPS)[1]
            reference = base.number(f"{SECONDS}{lengths[-1]}")
            ratio = f"{number(seconds[-1] / reference, 2)}" if reference else NONE
            fits = [power(grown(lengths, flops)), power(grown(lengths, seconds))]
            ends = [str(lengths[-1]), big(flops[-1]), number(seconds[-1], 3), ratio]
            lines.append([f"{label(model)}, {kind}", *ends, *fits])
    heads = ["model", "at N =", "operations", "seconds", "of incTNP's", "operations grow with", "seconds grow with"]
    yield table(heads, lines)


def draw(results: Results) -> "Figure":
    """Counted work to the left, seconds to the right."""
    figure, axes = panels(2)
    for axis, prefix, unit in zip(axes, (FLOPS, SECONDS), ("operations", "seconds"), strict=True):
        for model in results.labels("model"):
            for kind in results.labels("cost"):
                here = results.where(model=model, cost=kind)
                lengths, values = along(here, prefix)
                if lengths:
                    dotted = kind == UPDATE
                    name = f"{label(model)}, update alone" if dotted else label(model)
                    line = ":" if dotted else "-"
                    axis.plot(lengths, values, line, color=colour(model), marker=marker(model), ms=4, label=name)
        axis.set_yscale("log")
        name_axes(axis, "context points", f"{unit} of one step")
    legend(figure)
    return figure


def _cell(settings: RuntimeSettings, row: str, kind: str, player: Player) -> Cell:
    sizes = {"lengths": settings.of(row), "targets": settings.targets, "draws": settings.draws}
    return Cell(
        labels={"model": row, "cost": kind},
        setup={**sizes, "repeats": settings.repeats},
        player=player,
        measure=partial(measure, player, row, kind, settings),
    )


FIG14 = Artefact(
    name="fig14",
    title="run time of TNP-A",
    shows=(
        "What an autoregressive step costs TNP-A as published, TNP-A with cached keys and values, TNP-D and incTNP. "
        "The paper finds the original worse than TNP-D, and the cached one 3.5 times slower than incTNP at 100 000 "
        "points."
    ),
    study="tnp-a-runtime",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=draw,
    counted=True,
)
