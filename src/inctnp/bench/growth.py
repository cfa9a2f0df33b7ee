"""How times grow: a line for every variant of every piece of work."""

from collections.abc import Sequence

from inctnp.bench.measured import Measured
from inctnp.metrics.growth import fitted_exponent

LONGEST = 3
"""Sizes an exponent is fitted to, the largest ones: short contexts show what is fixed, not what grows."""


def series(rows: Sequence[Measured], work: str) -> dict[str, list[Measured]]:
    """Timed rows of a piece of work by variant, by size."""
    found: dict[str, list[Measured]] = {}
    for row in sorted((r for r in rows if r.work == work and r.timing), key=lambda r: r.size):
        found.setdefault(row.variant, []).append(row)
    return found


def exponent(line: Sequence[Measured]) -> float | None:
    """Fitted to the largest sizes; None for fewer than two."""
    last = [(row.size, row.timing.median) for row in line[-LONGEST:] if row.timing]
    return fitted_exponent(*zip(*last, strict=True)) if len(last) > 1 else None


def works(rows: Sequence[Measured]) -> list[str]:
    """Pieces of work in the order they were measured."""
    return list(dict.fromkeys(row.work for row in rows))
