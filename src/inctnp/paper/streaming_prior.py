"""Log-likelihood and cost on synthetic tables as rows stream in, far beyond the contexts of training.  (Fig. 5, 16)"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import torch

from inctnp.baselines.wiski import WISKI, tabular_config
from inctnp.generators.tabular_prior import TabularPrior
from inctnp.metrics.cost import CostSettings, update_cost
from inctnp.metrics.predictor import JointPredictor, Predictor, per_point
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values, listed
from inctnp.paper.markdown import NONE, Block, big, number, table, with_error
from inctnp.paper.plotting import colour, label, legend, marker, name_axes, panels
from inctnp.paper.results import Results
from inctnp.paper.streaming_tables import AT_EACH, draw_lengths, rows_asked
from inctnp.task import Task
from inctnp.training.plain import to_plain
from inctnp.training.recipes import TEST_SEED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA = "Tabular (synthetic)"


@dataclass(frozen=True, kw_only=True)
class PriorStreamSettings:
    """Lengths, and how many streams reach each; the defaults are the paper's lengths."""

    models: tuple[str, ...] = ("tnp-d", "inctnp", "inctnp-seq")
    reach: tuple[tuple[int, int], ...] = ((32, 512), (128, 512), (512, 512), (1024, 512), (4096, 64), (30_000, 64))
    """Pairs of a length and the number of streams that are that long."""
    cost_lengths: tuple[int, ...] = (1000, 5000, 10_000, 20_000, 30_000)
    """Lengths at which one more row is timed."""
    most_pairs: int = 4000
    """Longest context encoded anew to be counted: counting holds all scores of a layer in memory."""
    targets: int = 128
    wiski_epochs: int = 200

    def timed(self, model: str) -> list[int]:
        """The lengths at which an update of this model is timed."""
        fits = [length for length in self.cost_lengths if length <= self.most_pairs]
        return fits if model == "tnp-d" else list(self.cost_lengths)

    def asked(self, stream: int) -> list[int]:
        """The lengths at which this stream is asked."""
        return [length for length, streams in self.reach if stream < streams]


def plan(settings: PriorStreamSettings, cast: Cast) -> Iterator[Cell]:
    """One cell for each stream and model, and one for what an update costs a model."""
    for model in settings.models:
        player = cast.baseline(model) if model == "wiski" else cast.find("tabular", model)
        epochs = {"epochs": settings.wiski_epochs} if model == "wiski" else {}
        for stream in range(max(streams for _, streams in settings.reach)):
            source = stream_source(settings, stream)
            yield Cell(
                labels={"data": DATA, "model": model, "part": stream},
                setup={"source": to_plain(source), "asked": settings.asked(stream), **epochs},
                player=player,
                measure=partial(measure, player, source, settings, stream),
            )
        runner = player if model == "wiski" else cast.untrained("tabular", model)
        yield Cell(
            labels={"data": "cost", "model": model},
            setup={"lengths": settings.timed(model), "targets": settings.targets},
            player=runner,
            measure=partial(measure_cost, runner, settings),
        )


def stream_source(settings: PriorStreamSettings, stream: int) -> TabularPrior:
    """Tasks whose context is as long as this stream gets."""
    longest = settings.asked(stream)[-1]
    return TabularPrior(batch_size=1, context=(longest, longest), targets=settings.targets, seed=TEST_SEED)


def measure(player: Player, source: TabularPrior, settings: PriorStreamSettings, stream: int) -> Values:
    """Learn the rows of one table in order; ask for its targets at every length."""
    task = source.batch(stream)
    model: Predictor = _wiski(task.xc.shape[-2], settings) if player.model == "wiski" else player.load()
    return scores_of_task(model, task, settings.asked(stream))


@torch.no_grad()
def scores_of_task(model: Predictor, task: Task, asked: Sequence[int]) -> Values:
    """Mean log-likelihood of the targets after each of these numbers of points."""
    context, seen, values = model.empty(task.batch), 0, {}
    for points in asked:
        context = model.extend(context, task.xc[..., seen:points, :], task.yc[..., seen:points, :])
        seen = points
        predicted = per_point(model.query(context, task.xt).log_prob(task.yt))
        values[f"{AT_EACH}{points}"] = listed(predicted.mean(dim=-1))
    return values


def measure_cost(player: Player, settings: PriorStreamSettings) -> Values:
    """Seconds and counted work of one more row, at each length."""
    model: JointPredictor = _wiski(100, settings) if player.model == "wiski" else player.load()
    cost = CostSettings(targets=settings.targets, dim_x=20, repeats=3)
    steps = update_cost(model, settings.timed(player.model), cost).steps
    seconds = {f"seconds@{step.points}": step.seconds for step in steps}
    return {**seconds, **{f"flops@{step.points}": float(step.flops) for step in steps}}


def tell(results: Results) -> Iterator[Block]:
    """Scores and costs at each length."""
    scores, costs = results.where(data=DATA), results.where(data="cost")
    if at := rows_asked(scores):
        yield "Log-likelihood per target, mean ± standard error over streams; fewer streams reach the longest lengths."
        lines = [
            [label(model), *(with_error(scores.where(model=model).score(f"{AT_EACH}{n}")) for n in at)]
            for model in scores.labels("model")
        ]
        yield table(["model", *(f"{n} rows" for n in at)], lines)
    if lengths := rows_asked(costs, "seconds@"):
        yield (
            "One more row until the model can answer again: milliseconds on this processor, and floating-point "
            "operations."
        )
        lines = [[label(m), *(_cost(costs.where(model=m), n) for n in lengths)] for m in costs.labels("model")]
        yield table(["model", *(f"at {n} rows" for n in lengths)], lines)


def draw(results: Results) -> "Figure":
    """Likelihood to the left, the time of an update to the right."""
    figure, (left, right) = panels(2)
    draw_lengths(left, results.where(data=DATA))
    left.axvline(1024, color="#bbbbbb", lw=0.8, ls=":")
    name_axes(left, "rows streamed", "log-likelihood", "dotted: longest context of training")
    legend(figure)
    costs = results.where(data="cost")
    lengths = rows_asked(costs, "seconds@")
    for model in costs.labels("model"):
        seconds = [costs.where(model=model).number(f"seconds@{n}") for n in lengths]
        shown = [(n, 1e3 * s) for n, s in zip(lengths, seconds, strict=True) if s]
        right.plot(*zip(*shown, strict=True), color=colour(model), marker=marker(model), ms=4, label=label(model))
    right.set_xscale("log")
    right.set_yscale("log")
    name_axes(right, "rows streamed", "ms for one more row")
    return figure


def _wiski(rows: int, settings: PriorStreamSettings) -> WISKI:
    return WISKI(replace(tabular_config(20, rows), pretrain_epochs=settings.wiski_epochs))


def _cost(here: Results, length: int) -> str:
    seconds, flops = here.number(f"seconds@{length}"), here.number(f"flops@{length}")
    return NONE if seconds is None else f"{number(1e3 * seconds, 2)} ms, {big(flops)}"
