"""Figure 1: what a stream has cost by each length, updates and questions apart."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell
from inctnp.paper.cost_curves import CurveSettings, curve_cells
from inctnp.paper.cumulative_curves import draw_sums, tell_sums

MODELS = ("tnp-d", "inctnp")
KINDS = ("update", "query")

PAPER = CurveSettings(lengths=(250, 500, 1000, 2000, 4000))
CPU = replace(PAPER, targets=16, repeats=5)
SMOKE = replace(PAPER, lengths=(8, 16, 24), targets=3, repeats=1)


def plan(settings: CurveSettings, cast: Cast) -> Iterator[Cell]:
    """Updates and factorised questions."""
    return curve_cells(settings, cast, KINDS, MODELS)


FIG1 = Artefact(
    name="fig1",
    title="the cost of a stream",
    shows=(
        "The lower left panel of the figure: what a stream has cost by each length. The paper derives cubic growth "
        "for a model that encodes its context anew and quadratic growth for incTNP; the rest of the figure explains "
        "the idea."
    ),
    study="stream-cost",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=partial(tell_sums, kinds=KINDS),
    draw=partial(draw_sums, kinds=KINDS),
    counted=True,
)
