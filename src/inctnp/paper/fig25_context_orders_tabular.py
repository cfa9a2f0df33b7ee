"""Figure 25: test log-likelihood over random context orders, synthetic tables."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell
from inctnp.paper.context_orders import INCREMENTAL, REFERENCE, OrderSettings, order_cells, tell_orders, violins
from inctnp.paper.plotting import legend, name_axes, panels
from inctnp.paper.results import Results
from inctnp.paper.sources import tabular_source

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SMOKE = OrderSettings(batches=1, batch_size=2, orders=3, targets=4, longest=(16,))
CPU = OrderSettings(batches=6, orders=16, longest=(1024,), part=1)


def plan(settings: OrderSettings, cast: Cast) -> Iterator[Cell]:
    """The prior that models are trained on."""
    for longest in settings.longest:
        context = (min(10, longest), longest)
        source = tabular_source(context=context, batch_size=settings.batch_size, targets=settings.targets)
        yield from order_cells(source.data, source, (REFERENCE, *INCREMENTAL), settings, cast)


def draw(results: Results) -> "Figure":
    """One panel."""
    figure, (axis,) = panels(1)
    violins(axis, results)
    name_axes(axis, "", "test log-likelihood")
    legend(figure)
    return figure


FIG25 = Artefact(
    name="fig25",
    title="sensitivity to the order of the context, synthetic tables",
    shows=(
        "How much the score of a whole test set moves when the rows of every table are put in another order. The paper "
        "finds incTNP-Seq less sensitive than incTNP and more accurate."
    ),
    study="context-orders-tabular",
    settings=scales(SMOKE, CPU, OrderSettings(longest=(1024,))),
    plan=plan,
    tell=tell_orders,
    draw=draw,
)
