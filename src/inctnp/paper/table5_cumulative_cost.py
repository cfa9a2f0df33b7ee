"""Table 5: what a whole stream costs, from the counts of Table 4."""

from collections.abc import Iterator, Mapping

from inctnp.metrics.growth import cumulative
from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell
from inctnp.paper.cost_curves import (
    FLOPS,
    MODELS,
    CurveSettings,
    along,
    compared,
    counted_degree,
    curve_cells,
    grown,
    power,
)
from inctnp.paper.markdown import Block, big, table
from inctnp.paper.plotting import label
from inctnp.paper.results import Results
from inctnp.paper.table4_step_cost import CPU, KINDS, PAPER, SMOKE

CLAIMED: Mapping[str, Mapping[str, int]] = {
    "update": {"inctnp": 2, "inctnp-seq": 2, "tnp-d": 3},
    "query": {"inctnp": 2, "inctnp-seq": 2, "tnp-d": 2},
    "autoregressive": {"inctnp": 2, "inctnp-seq": 2, "tnp-d": 3},
}
"""Degrees in N_s of the paper's table."""


def plan(settings: CurveSettings, cast: Cast) -> Iterator[Cell]:
    """Table 4's, training aside."""
    return curve_cells(settings, cast, KINDS, MODELS)


def tell(results: Results) -> Iterator[Block]:
    """Degrees and sums beside the claimed ones."""
    yield (
        "Floating-point operations of all steps of a stream up to its end. *Degree* is one more than that of a step's "
        "counted work; *fitted* is the exponent of the growth of the sums, whose lower terms fade only in long streams."
    )
    lines = []
    for kind in CLAIMED:
        for model in MODELS:
            lengths, counts = along(results.where(cost=kind, model=model), FLOPS)
            if lengths:
                sums, step = cumulative(lengths, counts), counted_degree(lengths, counts)
                degree, claimed = (None if step is None else step + 1), CLAIMED[kind][model]
                verdict = compared(degree, claimed)
                fitted = power(grown(lengths, sums))
                lines.append(
                    [f"{kind}, {label(model)}", power(claimed, 0), power(degree, 0), fitted, big(sums[-1]), verdict]
                )
    last = results.rows[0]["setup"]["lengths"][-1]
    yield table(["cost", "paper", "degree", "fitted", f"whole stream of {last}", "verdict"], lines)


TABLE5 = Artefact(
    name="table5",
    title="cumulative cost of a stream",
    shows=(
        "What all the steps of a stream cost together. The paper derives quadratic growth for incTNP where TNP-D's is "
        "cubic."
    ),
    study="step-cost",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    counted=True,
)
