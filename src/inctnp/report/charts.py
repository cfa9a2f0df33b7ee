"""The pictures of a report, each out of a journal."""

import math
from collections.abc import Sequence

import numpy as np

from inctnp.report.journal import INSIDE, PIT_BINS, SCORE, SECONDS, SQUARED, Journal
from inctnp.report.record import Record
from inctnp.report.svg import Chart, padded

STRETCHES = 48
PIT_BARS = 20


def predictions(records: Sequence[Record]) -> str:
    """Bands, means and outcomes of rows that follow each other."""
    rows = [record.row for record in records]
    ys = [record.y for record in records if record.y is not None]
    # The first interval of all may be enormous; outcomes and typical intervals set the scale.
    typical = [float(np.quantile([getattr(r, end) for r in records], q)) for end, q in (("lower", 0.1), ("upper", 0.9))]
    chart = Chart((rows[0] - 0.5, rows[-1] + 0.5), padded([*ys, *typical]), "row", "outcome")
    lower, mean, upper = ([(r.row, getattr(r, name)) for r in records] for name in ("lower", "mean", "upper"))
    chart.band(lower, upper, "band")
    chart.line(mean, "mean")
    for inside, kind in ((True, "hit"), (False, "miss")):
        shown = [r for r in records if r.y is not None and (r.lower <= r.y <= r.upper) == inside]
        told = [f"row {r.row}: {r.y:.5g}, predicted {r.mean:.5g} ({r.lower:.5g} to {r.upper:.5g})" for r in shown]
        chart.dots([(r.row, r.y if r.y is not None else math.nan) for r in shown], kind, told)
    return chart.text


def pit_histogram(journal: Journal) -> str:
    """Level if predictions are honest."""
    counts = journal.pit.reshape(PIT_BARS, PIT_BINS // PIT_BARS).sum(axis=1) / max(journal.pit.sum(), 1)
    edges = np.linspace(0, 1, PIT_BARS + 1).tolist()
    chart = Chart((0, 1), (0, max(0.1, float(counts.max()) * 1.1)), "where the outcome fell", "share", 370)
    chart.bars(edges, counts.tolist(), "bar")
    chart.level(1 / PIT_BARS, "promise")
    return chart.text


def coverage_by_level(journal: Journal) -> str:
    """Promised against observed, for intervals of every level."""
    levels = np.linspace(0.02, 0.98, 49)
    chart = Chart((0, 1), (0, 1), "promised share", "observed share", 370)
    chart.line([(0, 0), (1, 1)], "promise")
    chart.line([(level, journal.coverage(level)) for level in levels.tolist()], "mean")
    return chart.text


def along(journal: Journal, quantity: int, name: str, root: bool = False) -> str:
    """A quantity along the stream: over stretches, and of all rows so far."""
    change = np.sqrt if root else (lambda values: values)
    ends, means = journal.averages.stretches(STRETCHES)
    all_ends, so_far = journal.averages.so_far()
    stretches, total = change(means[:, quantity]), change(so_far[:, quantity])
    # The first rows, learned from nothing, would hide what follows.
    settled = total[len(total) // 20 :]
    scale = padded([*stretches.tolist(), *settled.tolist()])
    if quantity == INSIDE:
        scale = (min(0.5, *stretches[np.isfinite(stretches)].tolist(), 0.5), 1.0)
    chart = Chart((0, journal.rows), scale, "row", name, 370, 200)
    if quantity == INSIDE:
        chart.level(journal.level, "promise")
    chart.line(list(zip(ends.tolist(), stretches.tolist(), strict=True)), "stretch")
    chart.line(list(zip(all_ends.tolist(), total.tolist(), strict=True)), "mean")
    return chart.text


def log_score(journal: Journal) -> str:
    """Log-density of the outcomes along the stream."""
    return along(journal, SCORE, "log score")


def error(journal: Journal) -> str:
    """Root mean square error along the stream."""
    return along(journal, SQUARED, "error (RMSE)", root=True)


def inside(journal: Journal) -> str:
    """Coverage of the interval along the stream."""
    return along(journal, INSIDE, "share inside")


def latency(journal: Journal) -> str:
    """Milliseconds of a row along the stream."""
    ends, means = journal.averages.stretches(STRETCHES)
    points = [(end, value * 1e3) for end, value in zip(ends.tolist(), means[:, SECONDS].tolist(), strict=True)]
    chart = Chart((0, journal.rows), (0, padded([value for _, value in points])[1]), "row", "ms a row", 370, 200)
    chart.line(points, "mean")
    return chart.text
