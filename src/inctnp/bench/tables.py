"""Results as tables: variants side by side, with their ratio to ours and how they grow."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from inctnp.bench.growth import exponent, series, works
from inctnp.bench.measured import Measured, Subject


def tables(subject: Subject, rows: Sequence[Measured]) -> Iterator[Table]:
    """One for each piece of work: a line for each variant, a column for each size."""
    for work in works(rows):
        yield _table(subject, work, [row for row in rows if row.work == work])


def _table(subject: Subject, work: str, rows: Sequence[Measured]) -> Table:
    sizes = sorted({row.size for row in rows})
    shown = Table(title=f"{work}: milliseconds (in brackets times {subject.ours})")
    shown.add_column("variant")
    for size in sizes:
        shown.add_column(f"{size:,} {subject.size_is}", justify="right")
    shown.add_column("grows as", justify="right")
    at = {(row.variant, row.size): row for row in rows}
    for variant in dict.fromkeys(row.variant for row in rows):
        cells = [_cell(subject, at.get((variant, size)), at.get((subject.ours, size))) for size in sizes]
        power = exponent(series(rows, work).get(variant, []))
        shown.add_row(variant, *cells, "" if power is None else f"N^{power:.2f}")
    return shown


def _cell(subject: Subject, row: Measured | None, ours: Measured | None) -> str:
    if row is None:
        return "-"
    lines = [f"{name} {value:,.4g}" for name, value in row.facts.items()]
    if row.timing:
        lines.insert(0, f"{row.timing.median * 1e3:.3g}{_ratio(row, ours)}")
        if subject.shows_memory and row.timing.peak is not None:
            lines.append(f"needs {row.timing.peak / 1e6:,.0f} MB")
    return "\n".join(lines)


def _ratio(row: Measured, ours: Measured | None) -> str:
    if row is ours or not (row.timing and ours and ours.timing):
        return ""
    return f" ({row.timing.median / ours.timing.median:.3g}x)"
