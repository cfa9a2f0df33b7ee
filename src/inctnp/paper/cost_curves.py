"""What a step costs each model as its context grows: work counted, seconds measured.  (Tab. 4-5, Fig. 1, 20)"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from inctnp.errors import ConfigError
from inctnp.metrics.cost import CostCurve, CostSettings, autoregressive_cost, query_cost, training_flops, update_cost
from inctnp.metrics.growth import growth_exponent, polynomial_degree
from inctnp.metrics.predictor import JointPredictor
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values
from inctnp.paper.markdown import NONE, number
from inctnp.paper.results import Results
from inctnp.seeding import generator
from inctnp.task import Task

MODELS = ("inctnp", "inctnp-seq", "tnp-d")
SETTING = "rbf-64"
"""Of the models whose work is counted; other inputs add a constant."""
FLOPS, SECONDS = "flops@", "seconds@"

Curve = Callable[[JointPredictor, Sequence[int], CostSettings], CostCurve]
CURVES: dict[str, Curve] = {"update": update_cost, "query": query_cost, "autoregressive": autoregressive_cost}


@dataclass(frozen=True, kw_only=True)
class CurveSettings:
    """Lengths of context, and what is asked at each; the defaults are the paper's for HadISD."""

    lengths: tuple[int, ...] = (250, 500, 1000, 1500, 2000)
    targets: int = 250
    draws: int = 50
    """Autoregressive unrolls."""
    repeats: int = 3
    """Measurements of time; the median counts."""


def curve_cells(settings: CurveSettings, cast: Cast, kinds: Sequence[str], models: Sequence[str]) -> Iterator[Cell]:
    """One cell for each model and kind of cost. Weights are random: work does not depend on them."""
    for model in models:
        player = cast.untrained(SETTING, model)
        for kind in kinds:
            asked = 1 if kind == "update" else settings.targets
            yield Cell(
                labels={"cost": kind, "model": model},
                setup={
                    "lengths": list(settings.lengths),
                    "targets": asked,
                    "draws": settings.draws if kind == "autoregressive" else 0,
                    "repeats": settings.repeats,
                },
                player=player,
                measure=partial(measure_curve, player, kind, settings),
            )


def training_cells(settings: CurveSettings, cast: Cast, models: Sequence[str]) -> Iterator[Cell]:
    """The work of one training step at each length of context, the targets fixed."""
    for model in models:
        player = cast.untrained(SETTING, model)
        yield Cell(
            labels={"cost": "training", "model": model},
            setup={"lengths": list(settings.lengths), "targets": settings.targets},
            player=player,
            measure=partial(measure_training, player, settings),
        )


def measure_curve(player: Player, kind: str, settings: CurveSettings) -> Values:
    """Work and seconds at every length."""
    cost = CostSettings(targets=settings.targets, draws=settings.draws, repeats=settings.repeats)
    curve = CURVES[kind](player.load(), settings.lengths, cost)
    flops = {f"{FLOPS}{step.points}": float(step.flops) for step in curve.steps}
    return {**flops, **{f"{SECONDS}{step.points}": step.seconds for step in curve.steps}}


def measure_training(player: Player, settings: CurveSettings) -> Values:
    """Forward and backward pass of one task at every length."""
    model, values = player.load(), {}
    for points in settings.lengths:
        rng = generator(0, "training cost", points)
        xc, yc = (torch.rand(1, points, 1, generator=rng) for _ in range(2))
        xt, yt = (torch.rand(1, settings.targets, 1, generator=rng) for _ in range(2))
        values[f"{FLOPS}{points}"] = float(training_flops(model.objective, Task(xc=xc, yc=yc, xt=xt, yt=yt)))
    model.zero_grad()
    return values


def along(results: Results, prefix: str) -> tuple[list[int], list[float]]:
    """Lengths and values of one model and kind of cost."""
    lengths = sorted(int(name.removeprefix(prefix)) for name in results.names() if name.startswith(prefix))
    return lengths, [results.number(f"{prefix}{length}") or 0.0 for length in lengths]


def counted_degree(lengths: Sequence[int], counts: Sequence[float]) -> int | None:
    """Degree of the polynomial that the counts follow exactly; None if they follow none that so few can show."""
    with contextlib.suppress(ConfigError):
        return polynomial_degree(lengths, [round(count) for count in counts])
    return None


def compared(degree: int | None, claimed: int) -> str:
    """The counted degree beside the paper's, in words.

    >>> compared(2, 2), compared(3, 2), compared(None, 2)
    ('as claimed', 'not as claimed', 'no polynomial')
    """
    return "no polynomial" if degree is None else "as claimed" if degree == claimed else "not as claimed"


def grown(lengths: Sequence[int], values: Sequence[float]) -> float | None:
    """The exponent with which values grow, blind to their fixed part."""
    with contextlib.suppress(ConfigError):
        return growth_exponent(lengths, values)
    return None


def power(exponent: float | None, digits: int = 2) -> str:
    """An exponent as a power of N_s.

    >>> power(2.0, 0), power(1.5), power(None)
    ('N^2', 'N^1.50', '—')
    """
    return NONE if exponent is None else f"N^{number(float(exponent), digits)}"
