"""Figure 20: what a stream has cost by each length when every step is answered autoregressively."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell
from inctnp.paper.cost_curves import CurveSettings, curve_cells
from inctnp.paper.cumulative_curves import draw_sums, tell_sums

MODELS = ("tnp-d", "inctnp")
KINDS = ("autoregressive",)

PAPER = CurveSettings()
CPU = replace(PAPER, lengths=(250, 500, 1000, 2000, 4000), targets=8, draws=2, repeats=1)
SMOKE = replace(PAPER, lengths=(8, 16, 24), targets=3, draws=2, repeats=1)


def plan(settings: CurveSettings, cast: Cast) -> Iterator[Cell]:
    """Autoregressive questions alone: they outweigh the updates by far."""
    return curve_cells(settings, cast, KINDS, MODELS)


FIG20 = Artefact(
    name="fig20",
    title="the cost of a stream answered autoregressively",
    shows=(
        "What a stream has cost when all targets are predicted one after the other at every step. The paper, with 250 "
        "targets and 50 unrolls on a GPU, finds TNP-D 3.5 times as expensive after 2000 points and the ratio growing."
    ),
    study="stream-cost",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=partial(tell_sums, kinds=KINDS),
    draw=partial(draw_sums, kinds=KINDS),
    counted=True,
)
