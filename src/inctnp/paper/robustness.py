"""How much the result of training depends on the learning rate and its schedule.  (Fig. 2, 10-12)"""

import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from inctnp.metrics.log_likelihood import FACTORISED, scores_per_task
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell, Values, listed
from inctnp.paper.markdown import NONE, Block, number, table
from inctnp.paper.plotting import colour, label, legend, name_axes, panels
from inctnp.paper.results import Results
from inctnp.paper.short_runs import NOT_REDUCED, Reduction, folder_of, reduced_recipe, trained
from inctnp.training.plain import to_plain
from inctnp.training.progress import DivergenceError
from inctnp.training.recipe import Recipe
from inctnp.training.recipes import TEST_SEED, recipe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODELS = ("tnp-d", "inctnp", "inctnp-seq")
SCHEDULES = ("cosine", "constant")
EQUAL_STEPS, EQUAL_COMPUTE = "equal steps", "equal compute"
SWEPT = (EQUAL_STEPS, EQUAL_COMPUTE)


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Every rate with every schedule on one kind of data."""

    data: str
    setting: str
    rates: tuple[float, ...]
    reduction: Reduction = NOT_REDUCED
    test_batches: int = 256


@dataclass(frozen=True, kw_only=True)
class RobustnessSettings:
    """The sweeps of a figure."""

    sweeps: tuple[Sweep, ...]


def plan(settings: RobustnessSettings, cast: Cast) -> Iterator[Cell]:
    """Every configuration of every model, and the cosine ones again with the time that incTNP-Seq takes."""
    for sweep in settings.sweeps:
        for model in MODELS:
            for schedule in SCHEDULES:
                for rate in sweep.rates:
                    yield _cell(sweep, model, rate, schedule, EQUAL_STEPS, cast)
        for model in MODELS[:2]:
            for rate in sweep.rates:
                yield _cell(sweep, model, rate, "cosine", EQUAL_COMPUTE, cast)


def longer(sweep: Sweep, model: str) -> float:
    """How many steps a model takes in the time that incTNP-Seq takes for one: the paper's ratio."""
    matched, usual = (recipe(sweep.setting, model, variant).steps for variant in ("compute-equal", "paper"))
    return matched / usual


def measure(chosen: Recipe, test_batches: int) -> Values:
    """Train, and score on held-out tasks; the mean of each batch. A run that diverged has no likelihood."""
    try:
        model = trained(chosen, chosen.steps)
    except DivergenceError:
        return {"ll": [float("nan")] * test_batches}
    held_out = replace(chosen.validation, seed=TEST_SEED)
    scores = [scores_per_task(model, [held_out.batch(i)], FACTORISED).mean().item() for i in range(test_batches)]
    shutil.rmtree(folder_of(chosen).path)
    return {"ll": listed(scores)}


def peaks(results: Results, model: str, budget: str = EQUAL_STEPS) -> list[float]:
    """The log-likelihood of each configuration of a model; a run that diverged is below all others."""
    here = results.where(model=model, budget=budget).rows
    means = [Results((row,)).units("ll").mean().item() for row in here]
    return [float("-inf") if math.isnan(mean) else mean for mean in means]


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Quartiles, as a box shows them.

    >>> spread([4.0, 1.0, 2.0, 3.0, 5.0])
    (2.0, 3.0, 4.0)
    """
    low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else 3 * list(values)
    return low, middle, high


def tell(results: Results) -> Iterator[Block]:
    """What a box plot shows, in numbers."""
    yield (
        "Log-likelihood per target on held-out tasks over all learning rates and schedules. *With equal compute* is "
        "the best run of those that took as many more steps as the paper gives a cheaper model."
    )
    for data in results.labels("data"):
        here = results.where(data=data)
        yield f"### {data}"
        yield _sizes(here)
        lines = [_line(here, model) for model in MODELS if peaks(here, model)]
        yield table(
            ["model", "best", "median", "interquartile range", "worst", "configurations", "best with equal compute"],
            lines,
        )


def draw(results: Results, outliers: bool) -> "Figure":
    """A box for each model, a star for its best run with equal compute."""
    kinds = results.labels("data")
    figure, axes = panels(len(kinds), width=2.9)
    for axis, data in zip(axes, kinds, strict=True):
        _boxes(axis, results.where(data=data), outliers)
        name_axes(axis, "", "test log-likelihood" if axis is axes[0] else "", data)
    legend(figure)
    return figure


def _cell(sweep: Sweep, model: str, rate: float, schedule: str, budget: str, cast: Cast) -> Cell:
    chosen = reduced_recipe(sweep.setting, model, sweep.reduction, rate, schedule)
    if budget == EQUAL_COMPUTE:
        chosen = replace(chosen, steps=round(chosen.steps * longer(sweep, model)))
    return Cell(
        labels={"data": sweep.data, "model": model, "rate": rate, "schedule": schedule, "budget": budget},
        setup={"recipe": chosen.hash, "steps": chosen.steps, **to_plain(sweep.reduction), "tested": sweep.test_batches},
        player=cast.baseline(model),
        measure=partial(measure, chosen, sweep.test_batches),
    )


def _sizes(here: Results) -> Block:
    setup = here.rows[0]["setup"]
    changes: dict[str, Any] = {**setup["network"], **setup["tasks"]}
    smaller = ", ".join(f"{name} {value}" for name, value in changes.items())
    return f"{setup['steps']} steps a run" + (f"; smaller than the paper's in: {smaller}." if smaller else ".")


def _line(here: Results, model: str) -> list[str]:
    values, matched = peaks(here, model), peaks(here, model, EQUAL_COMPUTE)
    low, middle, high = spread(values)
    shown = [number(value, 3) for value in (max(values), middle, high - low, min(values))]
    return [label(model), *shown, str(len(values)), number(max(matched), 3) if matched else NONE]


def _boxes(axis: "Axes", here: Results, outliers: bool) -> None:
    shown = [model for model in MODELS if peaks(here, model)]
    values = [[value for value in peaks(here, model) if math.isfinite(value)] for model in shown]
    boxes = axis.boxplot(values, showfliers=outliers, patch_artist=True, widths=0.6, medianprops={"color": "#222222"})
    for patch, model in zip(boxes["boxes"], shown, strict=True):
        patch.set(facecolor=colour(model), alpha=0.6)
    for place, model in enumerate(shown, start=1):
        if matched := peaks(here, model, EQUAL_COMPUTE):
            axis.plot(place, max(matched), "*", ms=9, color=colour(model), mec="#222222", mew=0.6)
    axis.plot([], [], "*", ms=9, color="white", mec="#222222", mew=0.6, label="best with equal compute")
    axis.set_xticks(range(1, len(shown) + 1), [label(model) for model in shown], fontsize=8)
