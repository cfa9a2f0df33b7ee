"""One prediction, and what became of it."""

from dataclasses import dataclass


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
