"""Figure 28: streaming through a change of lengthscale, at five speeds of the change."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell
from inctnp.paper.drift import DriftSettings, draw_drift, drift_cells, tell_drift
from inctnp.paper.plotting import legend, panels
from inctnp.paper.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = DriftSettings(temperatures=(0.0, 5.0, 10.0, 15.0, 20.0))
CPU = replace(PAPER, tasks=128, every=4)
SMOKE = replace(PAPER, tasks=2, batch=2, points=4, targets=3, every=2, temperatures=(0.0, 10.0))


def plan(settings: DriftSettings, cast: Cast) -> Iterator[Cell]:
    """RBF kernels, whose lengthscales differ."""
    return drift_cells(settings, "rbf-64", ("rbf",), cast, settings.models)


def draw(results: Results) -> "Figure":
    """A panel for each speed."""
    temperatures = results.labels("temperature")
    figure, axes = panels(min(3, len(temperatures)), rows=-(-len(temperatures) // 3))
    for axis, temperature in zip(axes, temperatures, strict=False):
        draw_drift(axis, results, temperature)
    for axis in axes[len(temperatures) :]:
        axis.set_axis_off()
    legend(figure)
    return figure


FIG28 = Artefact(
    name="fig28",
    title="distribution shift, RBF kernels",
    shows=(
        "The same with RBF kernels whose lengthscale changes, from a jump (τ = 0) to a slow transition (τ = 20). The "
        "paper finds that every transformer recovers, that CNP adapts fast but underfits, and smaller drops for "
        "slower shifts."
    ),
    study="drift-rbf",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell_drift,
    draw=draw,
)
