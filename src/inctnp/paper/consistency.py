"""The KL gap of every model beside its joint likelihood: implicit Bayesianness.  (Fig. 3, 15)"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from inctnp.baselines.exact_gp import ExactGP
from inctnp.baselines.wiski import WISKI, WISKIConfig
from inctnp.generators.gp import GPTasks, GPTruth
from inctnp.metrics.kl_gap import KLGapSettings, kl_gap_per_task
from inctnp.metrics.predictor import JointPredictor
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values, listed, parts_of
from inctnp.paper.markdown import Block, table, with_error
from inctnp.paper.plotting import colour, label, legend, marker, name_axes, panels
from inctnp.paper.results import Results
from inctnp.seeding import generator
from inctnp.task import Task
from inctnp.training.plain import to_plain
from inctnp.training.recipes import TEST_SEED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODELS = ("tnp-d", "inctnp", "inctnp-seq")
REFERENCE = "exact-gp"

Maker = Callable[[Player, Task], JointPredictor]
"""A predictor for a batch of tasks: the same model for all, or the process they came from."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How many tasks, orders and samples."""

    tasks: int
    metric: KLGapSettings
    batch: int = 32
    """Tasks measured together, and kept as one row."""


@dataclass(frozen=True, kw_only=True)
class ConsistencySettings:
    """One setting of the experiment; the defaults are Figure 3's."""

    context: int = 20
    targets: int = 40
    models: tuple[str, ...] = (*MODELS, REFERENCE, "wiski")
    effort: Effort = Effort(tasks=2000, metric=KLGapSettings())
    wiski: Effort = Effort(tasks=128, metric=KLGapSettings(mixture_orders=64, evaluation_orders=32, draws=20))
    wiski_epochs: int = 200

    def of(self, model: str) -> Effort:
        """WISKI learns at every point of every order, so the paper takes fewer of all for it."""
        return self.wiski if model == "wiski" else self.effort


def plan(settings: ConsistencySettings, cast: Cast) -> list[Cell]:
    """Every model, in batches of tasks."""
    return [cell for model in settings.models for cell in _cells(settings, model, cast)]


def tell(results: Results) -> Iterator[Block]:
    """The coordinates of every marker."""
    yield (
        "Both axes in nats per task, smaller is better. The NLL gap is to the exact posterior's joint log-density on "
        "the same tasks; *exchangeable* is the mixture over target orders (the paper's diamonds). Outcomes are "
        "teacher-forced as in the paper, which leaves even the exact posterior a gap above zero: that is the row to "
        "compare with, and *excess* is the difference from it, task by task."
    )
    reference = results.where(model=REFERENCE)
    lines = [_line(results.where(model=model), reference, model) for model in results.labels("model")]
    yield table(["model", "KL gap", "excess KL gap", "NLL gap", "NLL gap, exchangeable", "tasks"], lines)


def draw(results: Results) -> "Figure":
    """Performance against consistency; diamonds are the exchangeable versions, which have no gap."""
    figure, (axis,) = panels(1, width=4.6, height=3.6)
    for model in results.labels("model"):
        here = results.where(model=model)
        gap, nll, mixed = (here.score(name) for name in ("gap", "nll_gap", "exchangeable_nll_gap"))
        if gap is None or nll is None or mixed is None:
            continue
        style: Mapping[str, Any] = {"color": colour(model), "ms": 6, "capsize": 2, "lw": 1}
        axis.errorbar(
            gap.mean,
            nll.mean,
            xerr=_known(gap.sem),
            yerr=_known(nll.sem),
            fmt=marker(model),
            label=label(model),
            **style,
        )
        axis.errorbar(0.0, mixed.mean, yerr=_known(mixed.sem), fmt="d", mfc="white", **style)
    name_axes(axis, "KL gap (nats per task)", "joint NLL gap to the optimum (nats per task)")
    axis.axvline(0, color="#bbbbbb", lw=0.7, zorder=0)
    legend(figure)
    return figure


def measure(player: Player, make: Maker, source: GPTasks, metric: KLGapSettings, steps: range) -> Values:
    """The gap and likelihoods of each task."""
    names = ("gap", "nll", "exchangeable_nll", "nll_gap", "exchangeable_nll_gap")
    found: dict[str, list[float]] = {name: [] for name in names}
    for step in steps:
        task = source.batch(step)
        one = kl_gap_per_task(make(player, task), task, metric, generator(TEST_SEED, "orders", step))
        gaps = (one.gap, one.nll, one.exchangeable_nll, one.nll - one.least_nll, one.exchangeable_nll - one.least_nll)
        for name, values in zip(names, gaps, strict=True):
            found[name] += listed(values)
    return found


def maker(model: str, settings: ConsistencySettings) -> Maker:
    """How a row of the figure becomes a predictor."""
    special: dict[str, Maker] = {REFERENCE: exact, "wiski": partial(_wiski, settings.context, settings.wiski_epochs)}
    return special.get(model, _loaded)


def exact(player: Player, task: Task) -> JointPredictor:
    """The process that the tasks of this batch came from."""
    assert isinstance(task.truth, GPTruth)
    return ExactGP(kernel=task.truth.kernel, noise=task.truth.noise)


def _loaded(player: Player, task: Task) -> JointPredictor:
    return player.load()


def _wiski(context: int, epochs: int, player: Player, task: Task) -> JointPredictor:
    return WISKI(WISKIConfig(pretrain_points=context, pretrain_epochs=epochs))


def _cells(settings: ConsistencySettings, model: str, cast: Cast) -> Iterator[Cell]:
    effort = settings.of(model)
    source = GPTasks(
        batch_size=min(effort.batch, effort.tasks),
        context=(settings.context, settings.context),
        targets=settings.targets,
        shared_kernel=False,
        seed=TEST_SEED,
    )
    trained = model not in (REFERENCE, "wiski")
    player = cast.find("rbf-64", model) if trained else cast.baseline(model)
    setup = {"source": to_plain(source), "metric": to_plain(effort.metric)}
    if model == "wiski":
        setup["epochs"] = settings.wiski_epochs
    for part, steps in parts_of(math.ceil(effort.tasks / source.batch_size), 1):
        yield Cell(
            labels={"model": model, "part": part},
            setup=setup,
            player=player,
            measure=partial(measure, player, maker(model, settings), source, effort.metric, steps),
        )


def _line(here: Results, reference: Results, model: str) -> Sequence[str]:
    excess = here.difference(reference, "gap") if model != REFERENCE else None
    scores = [here.score("gap"), excess, here.score("nll_gap"), here.score("exchangeable_nll_gap")]
    return [label(model), *(with_error(score) for score in scores), str(len(here.units("gap")))]


def _known(error: float) -> float:
    return 0.0 if math.isnan(error) else error


def smaller(settings: ConsistencySettings, tasks: int, orders: tuple[int, int, int], batch: int) -> ConsistencySettings:
    """The same experiment with fewer tasks, orders (G, J) and samples (S)."""
    metric = KLGapSettings(mixture_orders=orders[0], evaluation_orders=orders[1], draws=orders[2])
    few = Effort(tasks=tasks, metric=metric, batch=batch)
    return replace(settings, effort=few, wiski=replace(few, tasks=max(batch, tasks // 8)))
