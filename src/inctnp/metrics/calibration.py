"""Are predictive distributions honest: CRPS, RMSE, coverage and width of intervals, and the PIT.

Everything here takes pairs of a predictive and what came true, from tasks or from a stream.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError, DataError
from inctnp.metrics.predictor import Ask, Predictor, factorised, given_context
from inctnp.predictive.base import Predictive
from inctnp.task import Task

LEVELS = (0.5, 0.8, 0.9, 0.95)
BINS = 10
Outcome = tuple[Predictive, Tensor]
"""A predictive and the true values of what it predicted."""


@dataclass(frozen=True)
class Coverage:
    """Central intervals that ought to hold the outcome with probability `level`."""

    level: float
    coverage: float
    """How often they did."""
    width: float
    """Their mean length: of two models that cover alike, the shorter knows more."""


@dataclass(frozen=True)
class PITUniformity:
    """How the values of the predictive distribution function at the outcomes are spread; uniform is calibrated."""

    distance: float
    """Largest distance between their distribution function and the uniform one (Kolmogorov-Smirnov), 0 to 1."""
    histogram: tuple[float, ...]
    """Share of them in bins of equal width: a U is overconfident, a hump underconfident, a slope biased."""


@dataclass(frozen=True)
class Calibration:
    """All of it, over the same outcomes."""

    crps: float
    rmse: float
    coverage: tuple[Coverage, ...]
    pit: PITUniformity
    outcomes: int


def outcomes(model: Predictor, tasks: Iterable[Task], ask: Ask = factorised) -> Iterator[Outcome]:
    """What a model predicted for the targets of each batch of tasks, and the targets."""
    for task in tasks:
        with torch.no_grad():
            predictive = ask(model, given_context(model, task), task.xt)
        yield predictive, task.yt


def pit_values(predictive: Predictive, y: Tensor) -> Float[Tensor, " outcome"]:
    """The probability integral transform: where in its predictive distribution each outcome fell."""
    return predictive.cdf(y).double().flatten()


def pit_uniformity(values: Float[Tensor, " outcome"]) -> PITUniformity:
    """Compare PIT values with the uniform distribution.

    >>> pit_uniformity(torch.tensor([0.25, 0.75])).distance
    0.25
    """
    if len(values) == 0:
        raise DataError("There is nothing to be uniform: no outcome was given.")
    ordered, count = values.double().sort().values, len(values)
    steps = torch.arange(count, dtype=torch.float64)
    distance = torch.maximum((steps + 1) / count - ordered, ordered - steps / count).max().item()
    inside = (ordered * BINS).long().clamp(0, BINS - 1)
    histogram = torch.bincount(inside, minlength=BINS) / count
    return PITUniformity(distance, tuple(histogram.tolist()))


def interval_coverage(predictive: Predictive, y: Tensor, level: float) -> tuple[Tensor, Tensor]:
    """Which outcomes fell into their central interval, and how long it was."""
    if not 0 < level < 1:
        raise ConfigError(f"The level of an interval must lie between 0 and 1, not {level}.")
    low, high = predictive.interval(level)
    return ((low <= y) & (y <= high)).double().flatten(), (high - low).double().flatten()


def calibration(pairs: Iterable[Outcome], levels: tuple[float, ...] = LEVELS) -> Calibration:
    """Every measure over all outcomes.

    >>> from inctnp.predictive.gaussian import Gaussian
    >>> result = calibration([(Gaussian(torch.zeros(8, 1), torch.ones(8, 1)), torch.zeros(8, 1))])
    >>> result.rmse, result.coverage[0].coverage, result.outcomes
    (0.0, 1.0, 8)
    """
    crps, squared, pit = [], [], []
    covered: list[list[tuple[Tensor, Tensor]]] = [[] for _ in levels]
    for predictive, y in pairs:
        crps.append(predictive.crps(y).double().flatten())
        squared.append((predictive.mean - y).double().square().flatten())
        pit.append(pit_values(predictive, y))
        for level, parts in zip(levels, covered, strict=True):
            parts.append(interval_coverage(predictive, y, level))
    if not pit:
        raise DataError("There is nothing to calibrate: no outcome was given.")
    intervals = tuple(_coverage(level, parts) for level, parts in zip(levels, covered, strict=True))
    values = torch.cat(pit)
    rmse = torch.cat(squared).mean().sqrt().item()
    return Calibration(torch.cat(crps).mean().item(), rmse, intervals, pit_uniformity(values), len(values))


def _coverage(level: float, parts: list[tuple[Tensor, Tensor]]) -> Coverage:
    inside, width = (torch.cat(part) for part in zip(*parts, strict=True))
    return Coverage(level, inside.mean().item(), width.mean().item())
