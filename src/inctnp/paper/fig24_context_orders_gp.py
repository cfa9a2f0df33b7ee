"""Figure 24: test log-likelihood over random context orders, 1-D Gaussian processes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell
from inctnp.paper.context_orders import INCREMENTAL, REFERENCE, OrderSettings, order_cells, tell_orders, violins
from inctnp.paper.plotting import legend, name_axes, panels
from inctnp.paper.results import Results
from inctnp.paper.sources import gp_source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMOKE = OrderSettings(batches=1, batch_size=2, orders=3, targets=4)
CPU = OrderSettings(batches=16, orders=32)


def plan(settings: OrderSettings, cast: Cast) -> Iterator[Cell]:
    """Both lengths of training context."""
    for longest in settings.longest:
        source = gp_source(longest, batch_size=settings.batch_size, targets=settings.targets)
        yield from order_cells(f"contexts to {longest}", source, (REFERENCE, *INCREMENTAL), settings, cast)


def draw(results: Results) -> "Figure":
    """One panel for each length."""
    kinds = results.labels("data")
    figure, axes = panels(len(kinds))
    for axis, data in zip(axes, kinds, strict=True):
        violins(axis, results.where(data=data))
        name_axes(axis, "", "test log-likelihood", data)
    legend(figure)
    return figure


FIG24 = Artefact(
    name="fig24",
    title="sensitivity to the order of the context, Gaussian processes",
    shows=(
        "How much the score of a whole test set moves when every context is put in another order. The paper finds a "
        "narrow spread, narrower for incTNP-Seq, and TNP-D, which knows no order, within or below it."
    ),
    study="context-orders-gp",
    settings=scales(SMOKE, CPU, OrderSettings()),
    plan=plan,
    tell=tell_orders,
    draw=draw,
)
