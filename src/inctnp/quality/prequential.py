"""Predict, score, learn: every row of a stream once, in order."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inctnp.errors import DataError
from inctnp.quality.contestant import Contestant
from inctnp.quality.streams import Example

PROTOCOL = 1
"""Counted up whenever rows would be scored or shown to rivals in another way."""
UNSCORED = 10
"""First rows that are predicted and learned, but not scored: without knowing the unit of the outcomes nobody can say
anything, and the guess at it would decide the comparison."""
LEVEL = 0.9
LEAST_LOG_SCORE = -50.0
"""A row counts no less than this, so that one outcome that was held to be impossible does not hide all others."""


@dataclass(frozen=True)
class Measured:
    """Means over the scored rows, outcomes in units of their standard deviation over the whole stream."""

    rows: int
    log_score: float
    crps: float
    rmse: float
    coverage: float
    """Share of outcomes inside the central 90 % interval."""
    microseconds: float
    """Processor time of asking and telling, a row."""


def measure(contestant: Contestant, examples: Sequence[Example]) -> Measured:
    """Let a contestant go through a stream."""
    if len(examples) <= UNSCORED:
        raise DataError(f"A stream needs more than {UNSCORED} rows to be scored, not {len(examples)}.")
    unit = float(np.std([y for _, y in examples])) or 1.0
    scores, spent = [], 0.0
    for number, (row, y) in enumerate(examples):
        start = time.process_time()
        expected = contestant.ask(row)
        asked = time.process_time()
        if number >= UNSCORED:
            inside = abs(expected.cdf(y) - 0.5) <= LEVEL / 2
            log_score = max(expected.log_prob(y) + math.log(unit), LEAST_LOG_SCORE)
            scores.append((log_score, expected.crps(y) / unit, ((y - expected.mean) / unit) ** 2, inside))
        told = time.process_time()
        contestant.tell(y)
        spent += asked - start + time.process_time() - told
    log_score, crps, squared, coverage = np.mean(scores, axis=0).tolist()
    return Measured(len(scores), log_score, crps, math.sqrt(squared), coverage, 1e6 * spent / len(examples))
