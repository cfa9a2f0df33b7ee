"""Figure 21: memory of a stream, with fused attention and with plain."""

from typing import TYPE_CHECKING, Any

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cost_curves import along
from inctnp.paper.memory_curves import ATTENTIONS, MODELS, PERSISTENT, memory_cells, totals
from inctnp.paper.plotting import colour, label, legend, marker, name_axes, panels
from inctnp.paper.results import Results
from inctnp.paper.table6_transient_memory import CPU, PAPER, SMOKE
from inctnp.paper.table7_total_memory import tell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEGABYTE = 1e6


def draw(results: Results) -> "Figure":
    """One panel for each kernel; dotted is what incTNP keeps between steps."""
    figure, axes = panels(len(ATTENTIONS))
    for axis, attention in zip(axes, ATTENTIONS, strict=True):
        for model in MODELS:
            here = results.where(attention=attention, model=model)
            lengths, kept = along(here, PERSISTENT)
            if not lengths:
                continue
            total = totals(lengths, kept, along(here, "update@")[1], along(here, "query@")[1])
            style: dict[str, Any] = {"color": colour(model), "lw": 1.4}
            axis.plot(lengths, [t / MEGABYTE for t in total], marker=marker(model), ms=4, label=label(model), **style)
            if model == "inctnp":
                axis.plot(lengths, [k / MEGABYTE for k in kept], ls=":", label="incTNP, kept between steps", **style)
        axis.set_ylim(bottom=0)
        name_axes(axis, "context points", "peak memory (MB)", f"{attention} attention")
    legend(figure)
    return figure


FIG21 = Artefact(
    name="fig21",
    title="memory of a stream",
    shows=(
        "Peak memory of a step with factorised predictions. The paper finds linear growth for both with fused "
        "attention, incTNP above TNP-D for its cache, and quadratic growth for TNP-D with plain attention."
    ),
    study="memory",
    settings=scales(SMOKE, CPU, PAPER),
    plan=memory_cells,
    tell=tell,
    draw=draw,
    counted=True,
)
