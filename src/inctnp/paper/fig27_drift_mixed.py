"""Figure 27: streaming through a change of kernel, models of the mixed setting."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from inctnp.generators.kernels import MIXED
from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell
from inctnp.paper.drift import DriftSettings, draw_drift, drift_cells, tell_drift
from inctnp.paper.plotting import legend, panels
from inctnp.paper.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = DriftSettings()
CPU = replace(PAPER, tasks=128, every=4)
SMOKE = replace(PAPER, tasks=2, batch=2, points=6, targets=3, every=3)


def plan(settings: DriftSettings, cast: Cast) -> Iterator[Cell]:
    """Kernels of any family, both of a stream from the same."""
    return drift_cells(settings, "mixed-64", MIXED, cast, settings.models)


def draw(results: Results) -> "Figure":
    """One panel."""
    figure, (axis,) = panels(1, width=5.2, height=3.4)
    draw_drift(axis, results, results.labels("temperature")[0])
    legend(figure)
    return figure


FIG27 = Artefact(
    name="fig27",
    title="distribution shift, mixed kernels",
    shows=(
        "Streams that turn from one function into another of the same kernel family around the twentieth point. No "
        "model has seen that in training. The paper finds that all transformers drop and recover, incTNP-Seq ending "
        "best."
    ),
    study="drift-mixed",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell_drift,
    draw=draw,
)
