"""Test log-likelihood over random orders of every context: its distribution over whole test sets.  (Fig. 24-26)"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from inctnp.metrics.log_likelihood import FACTORISED, scores_per_task
from inctnp.metrics.permutations import PermutationDistribution, permutation_distribution
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values, listed, parts_of
from inctnp.paper.markdown import Block, number, table, with_error
from inctnp.paper.plotting import colour, label
from inctnp.paper.results import Results
from inctnp.paper.sources import Source
from inctnp.seeding import generator
from inctnp.training.recipes import TEST_SEED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REFERENCE = "tnp-d"
INCREMENTAL = ("inctnp", "inctnp-seq")
RESAMPLED = 4000
"""Permutations of the whole test set that a violin shows, each task's order drawn from those that were tried."""


@dataclass(frozen=True, kw_only=True)
class OrderSettings:
    """Size of the test set and orders tried; the defaults have the paper's 4096 tasks."""

    batches: int = 256
    batch_size: int = 16
    orders: int = 256
    """Random orders of each context. The paper runs a million permutations of the test set, the tasks of which are
    independent: so many orders of each, recombined at random, have the same distribution up to their number."""
    targets: int = 128
    longest: tuple[int, ...] = (64, 512)
    """Contexts go up to these lengths, one after the other."""
    part: int = 4
    """Batches in a row of results."""


def order_cells(
    data: str, source: Source, models: Sequence[str], settings: OrderSettings, cast: Cast
) -> Iterator[Cell]:
    """The incremental models over orders, TNP-D once."""
    for model in models:
        player = cast.find(source.setting, model)
        orders = 1 if model == REFERENCE else settings.orders
        for part, steps in parts_of(settings.batches, settings.part):
            yield Cell(
                labels={"data": data, "model": model, "part": part},
                setup={"source": source.setup, "steps": [steps.start, steps.stop], "orders": orders},
                player=player,
                measure=partial(measure_orders, player, source, steps, orders),
            )


def measure_orders(player: Player, source: Source, steps: range, orders: int) -> Values:
    """The score of every task under every order, an order after the other; of batches, where there is one order."""
    model, tasks = player.load(), [source.batch(step) for step in steps]
    if orders == 1:
        return {"ll": listed(torch.cat([scores_per_task(model, [task], FACTORISED) for task in tasks]))}
    tried = permutation_distribution(model, tasks, orders, generator(TEST_SEED, "context orders", steps.start))
    return {f"order {number}": listed(scores) for number, scores in enumerate(tried.per_task)}


def distribution(results: Results) -> PermutationDistribution | None:
    """The rows of one model as what they measured."""
    names = [name for name in results.names() if name.startswith("order ")]
    return PermutationDistribution(torch.stack([results.units(name) for name in names])) if names else None


def tell_orders(results: Results) -> Iterator[Block]:
    """How wide the distributions are."""
    yield (
        "Log-likelihood per target of the whole test set under random orders of its contexts: mean and standard "
        "deviation from one permutation of the test set to another, and that of a single task from order to order."
    )
    lines = []
    for data in results.labels("data"):
        for model in results.labels("model"):
            here = results.where(data=data, model=model)
            tried, once = distribution(here), here.score("ll")
            if tried is not None:
                spread = [number(tried.mean, 4), number(tried.stddev, 5), with_error(tried.stddev_of_a_task, 4)]
                lines.append([f"{data}, {label(model)}", *spread, str(len(tried.per_task))])
            elif once is not None:
                lines.append([f"{data}, {label(model)}", number(once.mean, 4), "0", "0", "1"])
    yield table(["data, model", "mean", "std of the test set", "std of a task", "orders"], lines)


def violins(axis: "Axes", results: Results) -> None:
    """Distributions with their quartiles; TNP-D, which knows no order, as a line."""
    shown: list[tuple[str, Tensor]] = []
    for model in results.labels("model"):
        tried = distribution(results.where(model=model))
        if tried is not None:
            shown.append((model, tried.resampled(RESAMPLED, generator(TEST_SEED, "violin"))))
    if shown:
        bodies = axis.violinplot([values.tolist() for _, values in shown], showextrema=False, widths=0.8)
        for body, (model, _) in zip(list(bodies["bodies"]), shown, strict=True):  # type: ignore[call-overload]
            body.set_facecolor(colour(model))
            body.set_alpha(0.5)
        for place, (_, values) in enumerate(shown, start=1):
            low, middle, high = values.quantile(torch.tensor([0.25, 0.5, 0.75], dtype=values.dtype)).tolist()
            axis.hlines([low, middle, high], place - 0.2, place + 0.2, color="#222222", ls=["--", "-", "--"], lw=0.8)
    reference = results.where(model=REFERENCE).score("ll")
    if reference is not None:
        axis.axhline(reference.mean, color=colour(REFERENCE), ls=":", lw=1.4, label=label(REFERENCE))
    axis.set_xticks(range(1, len(shown) + 1), [label(model) for model, _ in shown], fontsize=8)
