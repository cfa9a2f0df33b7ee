"""The context KL gap of every model beside its likelihood.  (Fig. 22, 23)"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from inctnp.baselines.wiski import WISKI, WISKIConfig
from inctnp.generators.gp import GPTasks
from inctnp.metrics.context_kl_gap import ContextKLGapSettings, context_kl_gap_per_task
from inctnp.metrics.orders import random_orders
from inctnp.metrics.predictor import Ask, Predictor, factorised, unrolled
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell, Values, listed, parts_of
from inctnp.paper.markdown import Block, table, with_error
from inctnp.paper.plotting import colour, label, legend, marker, name_axes, panels
from inctnp.paper.results import Results
from inctnp.seeding import generator
from inctnp.training.plain import to_plain
from inctnp.training.recipes import TEST_SEED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Opened = Callable[[], Predictor]


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A model of the figure, how it is asked, and with how much effort."""

    model: str
    tasks: int
    metric: ContextKLGapSettings
    unrolls: int = 0
    """Autoregressive unrolls averaged over; 0 asks for each target on its own."""

    @property
    def shown(self) -> str:
        return f"{label(self.model)}, {self.unrolls} unrolls" if self.unrolls else label(self.model)


@dataclass(frozen=True, kw_only=True)
class ContextGapSettings:
    """One setting of the experiment."""

    setting: str
    """Recipe of the models."""
    context: int
    targets: int
    contestants: tuple[Contestant, ...]
    batch: int = 32
    wiski_epochs: int = 200


def plan(settings: ContextGapSettings, cast: Cast) -> Iterator[Cell]:
    """Every contestant, in batches of tasks."""
    for one in settings.contestants:
        size = min(settings.batch, one.tasks)
        sizes = (settings.context, settings.context)
        source = GPTasks(batch_size=size, context=sizes, targets=settings.targets, shared_kernel=False, seed=TEST_SEED)
        wiski = one.model == "wiski"
        player = cast.baseline("wiski") if wiski else cast.find(settings.setting, one.model)
        # Half of the context is for pretraining, as in the paper.
        points, epochs = max(1, settings.context // 2), settings.wiski_epochs
        opened: Opened = partial(_wiski, points, epochs) if wiski else player.load
        setup = {"source": to_plain(source), "metric": to_plain(one.metric), "unrolls": one.unrolls}
        for part, steps in parts_of(math.ceil(one.tasks / size), 1):
            yield Cell(
                labels={"model": one.model, "how": one.shown, "part": part},
                setup={**setup, **({"epochs": epochs} if wiski else {})},
                player=player,
                measure=partial(measure, opened, one, source, steps),
            )


def measure(opened: Opened, one: Contestant, source: GPTasks, steps: range) -> Values:
    """The gap and the likelihoods of each task."""
    model = opened()
    found: dict[str, list[float]] = {name: [] for name in ("gap", "nll_gap", "invariant_nll_gap")}
    for step in steps:
        task, rng = source.batch(step), generator(TEST_SEED, "context orders", step)
        assert task.truth is not None
        orders = random_orders(one.metric.orders, task.xc.shape[:-1], rng)
        ask: Ask = unrolled(one.unrolls, rng) if one.unrolls else factorised
        gap, nll, invariant = context_kl_gap_per_task(model, task, orders, one.metric.draws, rng, ask)
        least = -task.truth.factorised_log_prob(task).sum(dim=-1)
        for name, values in zip(found, (gap, nll - least, invariant - least), strict=True):
            found[name] += listed(values)
    return found


def tell(results: Results) -> Iterator[Block]:
    """The coordinates of every marker."""
    source = results.rows[0]["setup"]["source"]
    yield (
        f"{source['context'][1]} context points and {source['targets']} targets. "
        "In nats per task, smaller is better: the context KL gap, the gap of the factorised log-likelihood to the "
        "exact posterior's, and the same of the mixture over context orders (the paper's diamonds)."
    )
    lines = []
    for how in results.labels("how"):
        here = results.where(how=how)
        scores = [here.score(name) for name in ("gap", "nll_gap", "invariant_nll_gap")]
        lines.append([how, with_error(scores[0], 4), *(with_error(s) for s in scores[1:]), str(len(here.units("gap")))])
    yield table(["model", "context KL gap", "NLL gap", "NLL gap, order-free", "tasks"], lines)


def draw(results: Results) -> "Figure":
    """Performance against sensitivity; TNP-D is a line, for it has no sensitivity."""
    figure, (axis,) = panels(1, width=4.6, height=3.6)
    for how in results.labels("how"):
        here = results.where(how=how)
        model = here.labels("model")[0]
        gap, nll, mixed = (here.score(name) for name in ("gap", "nll_gap", "invariant_nll_gap"))
        if gap is None or nll is None or mixed is None:
            continue
        if model == "tnp-d":
            axis.axhline(nll.mean, color=colour(model), ls=":", label=how)
            continue
        filled = "white" if here.rows[0]["setup"]["unrolls"] == 50 else colour(model)
        errors: dict[str, Any] = {"xerr": _known(gap.sem), "yerr": _known(nll.sem)}
        axis.errorbar(
            gap.mean,
            nll.mean,
            **errors,
            fmt=marker(model),
            mfc=filled,
            color=colour(model),
            ms=6,
            capsize=2,
            lw=1,
            label=how,
        )
        axis.plot(0.0, mixed.mean, "d", color=colour(model), mfc="white", ms=6)
    name_axes(axis, "context KL gap (nats per task)", "NLL gap to the optimum (nats per task)")
    legend(figure)
    return figure


def _wiski(points: int, epochs: int) -> WISKI:
    return WISKI(WISKIConfig(pretrain_points=points, pretrain_epochs=epochs))


def _known(error: float) -> float:
    return 0.0 if math.isnan(error) else error
