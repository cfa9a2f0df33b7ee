"""Markdown from values: tables, remarks and numbers with their errors."""

import math
from collections.abc import Iterable, Sequence

from inctnp.metrics.score import Score

Block = str
"""A paragraph or a table."""
NONE = "—"
"""Nothing was measured, or the paper gives nothing."""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Block:
    """A Markdown table, its numbers to the right.

    >>> print(table(["model", "score"], [["cnp", "0.1"]]))
    | model | score |
    |---|---:|
    | cnp | 0.1 |
    """
    rule = "|".join(["---", *["---:"] * (len(header) - 1)])
    lines = [" | ".join(row) for row in (header, *rows)]
    return "\n".join([f"| {lines[0]} |", f"|{rule}|", *(f"| {line} |" for line in lines[1:])])


def with_error(score: Score | None, digits: int = 3, signed: bool = False) -> str:
    """A mean and its standard error.

    >>> with_error(Score(0.1234, 0.01, 9)), with_error(Score(0.1234, 0.01, 9), 2, signed=True), with_error(None)
    ('0.123 ± 0.010', '+0.12 ± 0.01', '—')
    """
    if score is None:
        return NONE
    error = "" if math.isnan(score.sem) else f" ± {score.sem:.{digits}f}"
    return f"{number(score.mean, digits, signed)}{error}"


def number(value: float | None, digits: int = 3, signed: bool = False) -> str:
    """A number with a true minus sign.

    >>> number(-0.5, 2), number(0.5, 1, signed=True)
    ('−0.50', '+0.5')
    """
    if value is None or math.isnan(value):
        return NONE
    return (f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}").replace("-", "−")


def big(value: float | None) -> str:
    """A large count in powers of a thousand.

    >>> big(1_234_000), big(17)
    ('1.23 M', '17')
    """
    if value is None:
        return NONE
    for size, suffix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {suffix}"
    return f"{value:.3g}"
