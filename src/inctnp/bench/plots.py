"""Results as pictures: seconds against size on logarithmic axes, a panel for each piece of work."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inctnp.bench.growth import exponent, series, works
from inctnp.bench.measured import Measured, Subject
from inctnp.errors import ConfigError

MARKERS = "os^Dv*PX<>+x"
STYLES, COLOURS = ("-", "--"), 10
"""Lines are dashed once the colours begin again."""
ABREAST = 2
"""Panels side by side."""


def draw(subject: Subject, rows: Sequence[Measured], path: Path) -> None:
    """Medians, quartiles as bars, fitted exponents in the legend."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError("Drawing needs matplotlib: pip install 'inctnp[plot]', or leave --plot out.") from None
    timed = [work for work in works(rows) if series(rows, work)]
    columns, lines = min(ABREAST, len(timed)), -(-len(timed) // ABREAST)
    figure = Figure(figsize=(6.6 * columns, 4.4 * lines), layout="constrained")
    for axis, work in zip(figure.subplots(lines, columns, squeeze=False).flat, timed, strict=False):
        _panel(axis, subject, work, series(rows, work))
    for axis in figure.axes[len(timed) :]:
        axis.remove()
    figure.savefig(path, dpi=90)


def _panel(axis: Any, subject: Subject, work: str, lines: dict[str, list[Measured]]) -> None:
    for i, (variant, line) in enumerate(lines.items()):
        spent = [row.timing for row in line if row.timing]
        medians = [timing.median for timing in spent]
        bars = [[t.median - t.low for t in spent], [t.high - t.median for t in spent]]
        power = exponent(line)
        label = variant if power is None else f"{variant}  N^{power:.2f}"
        look = {"marker": MARKERS[i % len(MARKERS)], "ls": ":" if variant == "predicted" else STYLES[i // COLOURS % 2]}
        axis.errorbar([row.size for row in line], medians, bars, ms=4, lw=1.2, label=label, **look)
    axis.set(xscale="log", yscale="log", title=work, xlabel=subject.size_is, ylabel="seconds")
    sizes = sorted({row.size for line in lines.values() for row in line})
    axis.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=8)
    axis.set_xticks([], minor=True)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
