"""Figure 26: greedy orders of the context against random ones, with incTNP-Prior."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import torch

from inctnp.metrics.predictor import per_point
from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values, listed, parts_of
from inctnp.paper.context_orders import OrderSettings, distribution, order_cells, violins
from inctnp.paper.markdown import NONE, Block, number, table, with_error
from inctnp.paper.plotting import legend, name_axes, panels
from inctnp.paper.results import Results
from inctnp.paper.sources import Source, gp_source
from inctnp.streaming.context_order import greedy_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODEL = "inctnp-prior"
CHOICES = {"max": "highest variance first", "median": "median variance first", "min": "lowest variance first"}
COLOURS = {"max": "#009e73", "median": "#777777", "min": "#cc79a7"}

PAPER = OrderSettings(longest=(64,))
CPU = OrderSettings(longest=(64,), batches=16, orders=32)
SMOKE = OrderSettings(longest=(64,), batches=1, batch_size=2, orders=3, targets=4)


def plan(settings: OrderSettings, cast: Cast) -> Iterator[Cell]:
    """Random orders, and each way to choose the next point greedily from nothing."""
    for longest in settings.longest:
        source = gp_source(longest, batch_size=settings.batch_size, targets=settings.targets)
        yield from order_cells("random", source, (MODEL,), settings, cast)
        player = cast.find(source.setting, MODEL)
        for choice in CHOICES:
            for part, steps in parts_of(settings.batches, settings.part):
                yield Cell(
                    labels={"data": "greedy", "choice": choice, "model": MODEL, "part": part},
                    setup={"source": source.setup, "steps": [steps.start, steps.stop]},
                    player=player,
                    measure=partial(measure, player, source, steps, choice),
                )


@torch.no_grad()
def measure(player: Player, source: Source, steps: range, choice: str) -> Values:
    """Learn every context in greedy order, then ask for the targets."""
    model, scores = player.load(), []
    for step in steps:
        task = source.batch(step)
        context, _ = greedy_order(model, model.empty(task.batch), task.xc, task.yc, choice)
        predicted = model.query(context, task.xt)
        scores += listed(per_point(predicted.log_prob(task.yt)).mean(dim=-1))
    return {"ll": scores}


def tell(results: Results) -> Iterator[Block]:
    """Where each greedy order falls among the random ones."""
    tried = distribution(results.where(data="random"))
    yield (
        "Log-likelihood per target of the whole test set. *Share of random orders below* counts permutations of the "
        "test set, recombined from the orders tried of every task."
    )
    sampled = None if tried is None else tried.resampled(4000, torch.Generator().manual_seed(0))
    lines = []
    if tried is not None:
        lines.append(["random", f"{number(tried.mean, 4)} (std {number(tried.stddev, 5)})", NONE])
    for choice, words in CHOICES.items():
        score = results.where(data="greedy", choice=choice).score("ll")
        below = None if score is None or sampled is None else (sampled < score.mean).double().mean().item()
        lines.append([words, with_error(score, 4), NONE if below is None else f"{below:.1%}"])
    yield table(["order", "log-likelihood", "share of random orders below"], lines)


def draw(results: Results) -> "Figure":
    """The distribution over random orders, and a line for each greedy one."""
    figure, (axis,) = panels(1)
    violins(axis, results.where(data="random"))
    for choice, words in CHOICES.items():
        score = results.where(data="greedy", choice=choice).score("ll")
        if score is not None:
            axis.axhline(score.mean, color=COLOURS[choice], ls="--", lw=1.2, label=words)
    name_axes(axis, "", "test log-likelihood")
    legend(figure)
    return figure


FIG26 = Artefact(
    name="fig26",
    title="greedy orders of the context",
    shows=(
        "Where points arrive together, the model can choose their order by its own variance. The paper finds that "
        "learning the most uncertain point first beats 99 % of random orders, and the least uncertain loses to all."
    ),
    study="greedy-order",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=draw,
)
