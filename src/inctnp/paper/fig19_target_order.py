"""Figure 19: how much the joint likelihood depends on the order in which targets are predicted."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from inctnp.generators.base import TaskGenerator
from inctnp.generators.gp import GPTasks
from inctnp.generators.tabular_prior import TabularPrior
from inctnp.metrics.target_order import target_order_sensitivity
from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values, listed, parts_of
from inctnp.paper.markdown import Block, table, with_error
from inctnp.paper.plotting import colour, label, legend, marker, name_axes, panels
from inctnp.paper.results import Results
from inctnp.seeding import generator
from inctnp.training.plain import to_plain
from inctnp.training.recipes import TEST_SEED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODELS = ("tnp-d", "inctnp", "inctnp-seq")
RANGE = "large"
SMALL = "small"


@dataclass(frozen=True, kw_only=True)
class TargetOrderSettings:
    """How many tasks and orders, and which sizes."""

    batches: int = 64
    batch_size: int = 16
    orders: int = 64
    targets: tuple[int, ...] = (4, 8, 16, 32, 64, 128)
    gp_contexts: tuple[tuple[int, int], ...] = ((1, 1), (1, 64))
    """A small, fixed context and the range that models are trained on."""
    tabular_contexts: tuple[tuple[int, int], ...] = ((10, 10), (10, 1024))
    part: int = 8


SMOKE = TargetOrderSettings(
    batches=1,
    batch_size=2,
    orders=2,
    targets=(2, 4),
    gp_contexts=((1, 1), (1, 8)),
    tabular_contexts=((10, 10), (10, 12)),
)
CPU = TargetOrderSettings(batches=4, batch_size=8, orders=8, targets=(4, 16, 64), part=2)


def plan(settings: TargetOrderSettings, cast: Cast) -> Iterator[Cell]:
    """Both kinds of data, both kinds of context, every number of targets and model."""
    for data, setting, kind, contexts in (
        ("1D GP", "rbf-64", GPTasks, settings.gp_contexts),
        ("Tabular (synthetic)", "tabular", TabularPrior, settings.tabular_contexts),
    ):
        for size, context in zip((SMALL, RANGE), contexts, strict=True):
            for targets in settings.targets:
                sizes = {"batch_size": settings.batch_size, "context": context, "targets": targets}
                source = kind(**sizes, seed=TEST_SEED)  # type: ignore[arg-type]
                labels = {"data": data, "context": size, "targets": targets}
                for model in MODELS:
                    yield from _cells(labels, source, cast.find(setting, model), settings)


def measure(player: Player, source: TaskGenerator, steps: range, orders: int) -> Values:
    """Batch means of the deviation from order to order, and of the likelihood."""
    model = player.load()
    spread, level = [], []
    for step in steps:
        found = target_order_sensitivity(model, [source.batch(step)], orders, generator(TEST_SEED, "targets", step))
        spread.append(found.stddev.mean)
        level.append(found.mean.mean)
    return {"stddev": listed(spread), "ll": listed(level)}


def tell(results: Results) -> Iterator[Block]:
    """Deviations for every size."""
    yield "Standard deviation of the joint log-likelihood per target from one random target order to another."
    targets = results.labels("targets")
    lines = []
    for data in results.labels("data"):
        for context in results.labels("context"):
            for model in MODELS:
                here = results.where(data=data, context=context, model=model)
                entries = [with_error(here.where(targets=n).score("stddev"), 4) for n in targets]
                if here.rows:
                    lines.append([f"{data}, {context} context, {label(model)}", *entries])
    yield table(["data, context, model", *(f"{n} targets" for n in targets)], lines)


def draw(results: Results) -> "Figure":
    """One panel for each kind of data; empty markers are small contexts, filled ones large."""
    kinds = ("1D GP", "Tabular (synthetic)")
    figure, axes = panels(len(kinds))
    for axis, data in zip(axes, kinds, strict=True):
        for model in MODELS:
            for context in (SMALL, RANGE):
                here = results.where(data=data, context=context, model=model)
                points = [(n, here.where(targets=n).score("stddev")) for n in here.labels("targets")]
                shown = [(n, s.mean) for n, s in points if s is not None and not math.isnan(s.mean)]
                if shown:
                    filled = colour(model) if context == RANGE else "white"
                    name = f"{label(model)}, {context} context"
                    look: dict[str, Any] = {
                        "color": colour(model),
                        "marker": marker(model),
                        "mfc": filled,
                        "label": name,
                    }
                    axis.plot(*zip(*shown, strict=True), ms=5, lw=1, **look)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        name_axes(axis, "targets", "std of joint log-likelihood per target", data)
    legend(figure)
    return figure


def _cells(
    labels: dict[str, object], source: TaskGenerator, player: Player, settings: TargetOrderSettings
) -> Iterator[Cell]:
    for part, steps in parts_of(settings.batches, settings.part):
        yield Cell(
            labels={**labels, "model": player.model, "part": part},
            setup={"source": to_plain(source), "steps": [steps.start, steps.stop], "orders": settings.orders},
            player=player,
            measure=partial(measure, player, source, steps, settings.orders),
        )


FIG19 = Artefact(
    name="fig19",
    title="sensitivity to the order of the targets",
    shows=(
        "Autoregressive predictions depend on the order of the targets. The paper finds incTNP-Seq about as sensitive "
        "as TNP-D, incTNP slightly more, and all of them less with more context and more targets."
    ),
    study="target-order",
    settings=scales(SMOKE, CPU, TargetOrderSettings()),
    plan=plan,
    tell=tell,
    draw=draw,
)
