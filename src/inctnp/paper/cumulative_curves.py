"""What a whole stream has cost by each length, summed from the cost of single steps.  (Fig. 1, 20)"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inctnp.metrics.growth import cumulative
from inctnp.paper.cost_curves import FLOPS, SECONDS, along, grown, power
from inctnp.paper.markdown import Block, big, number, table
from inctnp.paper.plotting import colour, label, legend, marker, name_axes, panels
from inctnp.paper.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def tell_sums(results: Results, kinds: Sequence[str]) -> Iterator[Block]:
    """What a stream has cost in the end, and how TNP-D's sum compares with incTNP's."""
    yield (
        "Sums over all steps of a stream up to its end: floating-point operations counted, seconds measured, of one "
        "thread of a processor. Steps between the measured lengths are read off straight lines."
    )
    for kind in kinds:
        here = results.where(cost=kind)
        lines = [_line(here.where(model=model), model) for model in here.labels("model")]
        last = max(along(here, FLOPS)[0], default=0)
        yield f"### {kind}, a stream of {last} points"
        yield table(["model", "operations", "grow with", "seconds", "grow with"], lines)
        ratio = _ratio(here, "tnp-d", "inctnp")
        if ratio is not None:
            yield f"By then TNP-D has taken {number(ratio, 1)} times as long as incTNP."


def draw_sums(results: Results, kinds: Sequence[str]) -> "Figure":
    """Counted work to the left, seconds to the right; a row of panels for each kind of cost."""
    figure, axes = panels(2, rows=len(kinds))
    for row, kind in enumerate(kinds):
        for axis, prefix, unit in zip(axes[2 * row :], (FLOPS, SECONDS), ("operations", "seconds"), strict=False):
            _draw(axis, results.where(cost=kind), prefix)
            name_axes(axis, "points streamed", f"cumulative {unit}", kind)
    legend(figure)
    return figure


def _line(here: Results, model: str) -> list[str]:
    entries = [label(model)]
    for prefix in (FLOPS, SECONDS):
        lengths, values = along(here, prefix)
        sums = cumulative(lengths, values)
        shown = big(sums[-1]) if prefix == FLOPS else number(sums[-1], 1)
        entries += [shown, power(grown(lengths, sums))]
    return entries


def _ratio(results: Results, slow: str, fast: str) -> float | None:
    pair = [along(results.where(model=model), SECONDS) for model in (slow, fast)]
    if any(not lengths for lengths, _ in pair):
        return None
    sums = [cumulative(lengths, values)[-1] for lengths, values in pair]
    return sums[0] / sums[1] if sums[1] > 0 else None


def _draw(axis: "Axes", results: Results, prefix: str) -> None:
    for model in results.labels("model"):
        lengths, values = along(results.where(model=model), prefix)
        sums = cumulative(lengths, values)
        axis.plot(lengths, sums, color=colour(model), marker=marker(model), ms=4, lw=1.4, label=label(model))
    axis.set_ylim(bottom=0)
