"""Log-likelihood along streams whose process changes under way, beside the best possible.  (Fig. 27, 28)"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import torch

from inctnp.generators.shift import ShiftStream, ShiftTasks
from inctnp.metrics.predictor import Predictor, per_point
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values, listed, parts_of
from inctnp.paper.markdown import Block, table, with_error
from inctnp.paper.plotting import curve, label, name_axes
from inctnp.paper.results import Results
from inctnp.paper.streaming_tables import AT_EACH, rows_asked
from inctnp.training.plain import to_plain
from inctnp.training.recipes import TEST_SEED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MODELS = ("tnp-d", "inctnp", "inctnp-seq", "cnp", "lbanp")
OPTIMUM = "optimum@"


@dataclass(frozen=True, kw_only=True)
class DriftSettings:
    """How many streams of which shift; sizes are the paper's."""

    tasks: int = 4096
    batch: int = 64
    points: int = 64
    targets: int = 128
    temperatures: tuple[float, ...] = (10.0,)
    """τ: how slowly the process changes; 0 is a jump."""
    every: int = 1
    """Points between two questions."""
    models: tuple[str, ...] = MODELS

    def asked(self) -> list[int]:
        """After how many points the targets are asked."""
        return sorted({*range(self.every, self.points + 1, self.every), self.points})


def drift_cells(
    settings: DriftSettings, setting: str, families: tuple[str, ...], cast: Cast, models: Sequence[str]
) -> Iterator[Cell]:
    """Every model on the same streams, in batches."""
    for temperature in settings.temperatures:
        source = ShiftTasks(
            batch_size=min(settings.batch, settings.tasks),
            families=families,
            context=(settings.points, settings.points),
            targets=settings.targets,
            temperature=temperature,
            seed=TEST_SEED,
        )
        for model in models:
            player = cast.find(setting, model)
            for part, steps in parts_of(settings.tasks // source.batch_size, 1):
                yield Cell(
                    labels={"temperature": temperature, "model": model, "part": part},
                    setup={"source": to_plain(source), "asked": settings.asked()},
                    player=player,
                    measure=partial(measure, player, source, steps, settings.asked()),
                )


def measure(player: Player, source: ShiftTasks, steps: range, asked: Sequence[int]) -> Values:
    """The score of each stream at each length, and the optimum of someone who knows both kernels and the shift."""
    values: dict[str, list[float]] = {}
    model = player.load()
    for step in steps:
        stream = source.stream(step)
        best = stream.factorised_log_prob().mean(dim=-1)
        for seen, scores in scores_along(model, stream, asked):
            values.setdefault(f"{AT_EACH}{seen}", []).extend(listed(scores))
            values.setdefault(f"{OPTIMUM}{seen}", []).extend(listed(best[:, seen]))
    return values


@torch.no_grad()
def scores_along(model: Predictor, stream: ShiftStream, asked: Sequence[int]) -> Iterator[tuple[int, torch.Tensor]]:
    """Mean log-likelihood per target of each stream after so many points, the points learned as they come."""
    context, seen = model.empty(stream.x.shape[0]), 0
    for points in asked:
        task = stream.at(points)
        context = model.extend(context, task.xc[:, seen:], task.yc[:, seen:])
        seen = points
        yield points, per_point(model.query(context, task.xt).log_prob(task.yt)).mean(dim=-1)


def tell_drift(results: Results) -> Iterator[Block]:
    """Scores before, in the middle of and after the shift."""
    yield (
        "Log-likelihood per target given the points so far, mean ± standard error over streams; the shift is centred "
        "at 20 points. *Optimum* is the factorised log-likelihood of the exact posterior that knows both kernels and "
        "the shift. The paper draws a joint density as its ground truth, which is higher and is not what models are "
        "scored by."
    )
    for temperature in results.labels("temperature"):
        here = results.where(temperature=temperature)
        at = rows_asked(here)
        shown = sorted({at[len(at) // 6], min(at, key=lambda n: abs(n - 20)), at[len(at) // 2], at[-1]})
        models = here.labels("model")
        lines = [_line(label(model), here.where(model=model), AT_EACH, shown) for model in models]
        fullest = max((here.where(model=model) for model in models), key=lambda found: len(found.rows))
        lines.append(_line("optimum", fullest, OPTIMUM, shown))
        yield f"### τ = {temperature:g}"
        yield table(["model", *(f"after {n} points" for n in shown)], lines)


def draw_drift(axis: "Axes", results: Results, temperature: float) -> None:
    """One panel: models, the optimum, and the shaded transition."""
    here = results.where(temperature=temperature)
    at = rows_asked(here)
    for model in here.labels("model"):
        curve(axis, model, at, [here.where(model=model).score(f"{AT_EACH}{n}") for n in at])
    best = [here.score(f"{OPTIMUM}{n}") for n in at]
    known = [(n, score.mean) for n, score in zip(at, best, strict=True) if score is not None]
    axis.plot(*zip(*known, strict=True), color="#777777", ls=":", lw=1.4, label="optimum, factorised")
    # ω runs from 5 % to 95 % within ±τ·log(19) of the centre.
    half = 2.944 * temperature
    axis.axvspan(max(0.0, 20 - half), 20 + half, color="#9467bd", alpha=0.08, lw=0)
    axis.axvline(20, color="#d62728", lw=0.9)
    axis.set_xlim(0, max(at))
    name_axes(axis, "points streamed", "log-likelihood", f"τ = {temperature:g}")


def _line(name: str, here: Results, prefix: str, shown: Sequence[int]) -> list[str]:
    return [name, *(with_error(here.score(f"{prefix}{n}")) for n in shown)]
