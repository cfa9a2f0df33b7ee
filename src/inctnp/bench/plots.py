"""Results as pictures: seconds against size on logarithmic axes, a panel for each piece of work."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inctnp.bench.growth import exponent, series, works
from inctnp.bench.measured import Measured, Subject
from inctnp.errors import ConfigError

MARKERS = "os^Dv*PX<>+x"


def draw(subject: Subject, rows: Sequence[Measured], path: Path) -> None:
    """Medians, quartiles as bars, fitted exponents in the legend."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError("Drawing needs matplotlib: pip install 'inctnp[plot]', or leave --plot out.") from None
    timed = [work for work in works(rows) if series(rows, work)]
    figure = Figure(figsize=(5.2 * len(timed), 4.4), layout="constrained")
    for axis, work in zip(figure.subplots(1, len(timed), squeeze=False)[0], timed, strict=True):
        _panel(axis, subject, work, series(rows, work))
    figure.savefig(path, dpi=110)


def _panel(axis: Any, subject: Subject, work: str, lines: dict[str, list[Measured]]) -> None:
    for marker, (variant, line) in zip(MARKERS * 2, lines.items(), strict=False):
        spent = [row.timing for row in line if row.timing]
        medians = [timing.median for timing in spent]
        bars = [[t.median - t.low for t in spent], [t.high - t.median for t in spent]]
        power = exponent(line)
        label = variant if power is None else f"{variant}  N^{power:.2f}"
        style = ":" if variant == "predicted" else "-"
        axis.errorbar([row.size for row in line], medians, bars, marker=marker, ms=4, lw=1.2, ls=style, label=label)
    axis.set(xscale="log", yscale="log", title=work, xlabel=subject.size_is, ylabel="seconds")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7, frameon=False)
