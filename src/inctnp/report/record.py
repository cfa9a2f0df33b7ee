"""One prediction, and what became of it."""

import math
from dataclasses import dataclass
from typing import Any

from inctnp.predictive.base import Predictive
from inctnp.predictive.plain import PlainMixture


@dataclass(frozen=True, slots=True)
class Record:
    """A row that was predicted before its outcome was looked at."""

    row: int
    """Its number in the stream, counted from 1."""
    y: float | None
    """The outcome; None where it is not known."""
    mean: float
    std: float
    lower: float
    """Below it the outcome falls as rarely as above `upper`."""
    upper: float
    log_score: float | None
    """Log-density of the outcome: higher is better."""
    key: str | None = None
    """Which of many streams it belongs to."""
    pit: float | None = None
    """Share of the predictive distribution below the outcome: uniform if predictions are honest."""
    seconds: float = 0.0
    """Taken by predicting and learning the row."""


def plainly(predictive: Predictive) -> PlainMixture:
    """The predictive of a single number, in plain floats: its quantiles are slow as tensors."""
    log_weights, means, stddevs = (part.flatten() for part in predictive.components())
    return PlainMixture(log_weights.exp().tolist(), means.tolist(), stddevs.tolist())


def record_of(predictive: PlainMixture, row: int, y: float | None, level: float, **more: Any) -> Record:
    """A prediction, and how it fared if the outcome is known; `more` are the fields that follow from neither."""
    return Record(
        row=row,
        y=y,
        mean=predictive.mean,
        std=math.sqrt(predictive.variance),
        lower=predictive.quantile((1 - level) / 2),
        upper=predictive.quantile((1 + level) / 2),
        log_score=None if y is None else predictive.log_prob(y),
        pit=None if y is None else predictive.cdf(y),
        **more,
    )
