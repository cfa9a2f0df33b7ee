"""Table 4: what one step of a stream costs, counted and compared with the growth the paper claims."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

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
    training_cells,
)
from inctnp.paper.markdown import Block, big, table
from inctnp.paper.plotting import label
from inctnp.paper.results import Results

KINDS = ("update", "query", "autoregressive")
CLAIMED: Mapping[str, Mapping[str, int]] = {
    "update": {"inctnp": 1, "inctnp-seq": 1, "tnp-d": 2},
    "query": {"inctnp": 1, "inctnp-seq": 1, "tnp-d": 1},
    "autoregressive": {"inctnp": 1, "inctnp-seq": 1, "tnp-d": 2},
    "training": {"inctnp": 2, "inctnp-seq": 2, "tnp-d": 2},
}
"""Degrees in N_s (in N_c for training) of the paper's table."""

PAPER = CurveSettings(lengths=(128, 256, 512, 1024, 2048), targets=32, draws=2)
CPU = replace(PAPER, lengths=(128, 256, 384, 512, 1024), targets=16)
SMOKE = replace(PAPER, lengths=(8, 16, 24, 32, 40), targets=3, repeats=1)


def plan(settings: CurveSettings, cast: Cast) -> Iterator[Cell]:
    """Every cost of every model."""
    yield from curve_cells(settings, cast, KINDS, MODELS)
    yield from training_cells(settings, cast, MODELS)


def tell(results: Results) -> Iterator[Block]:
    """The counted degree beside the claimed one, and the counts themselves."""
    setup = results.rows[0]["setup"]
    yield (
        "Floating-point operations, counted. *Degree* is that of the polynomial in the length of the context which the "
        "counts follow exactly; *fitted* is the exponent of its growth without the part that does not grow. Training "
        "is the forward and backward pass of one task; causal attention is computed in blocks that leave out masked "
        "pairs, so its work there grows in steps and follows *no polynomial* exactly."
    )
    lines = []
    for kind in CLAIMED:
        for model in MODELS:
            lengths, counts = along(results.where(cost=kind, model=model), FLOPS)
            if lengths:
                degree, claimed = counted_degree(lengths, counts), CLAIMED[kind][model]
                verdict = compared(degree, claimed)
                fitted = power(grown(lengths, counts))
                ends = [big(counts[0]), big(counts[-1])]
                lines.append([f"{kind}, {label(model)}", power(claimed, 0), power(degree, 0), fitted, *ends, verdict])
    first, last = setup["lengths"][0], setup["lengths"][-1]
    yield table(["cost", "paper", "degree", "fitted", f"at N = {first}", f"at N = {last}", "verdict"], lines)


TABLE4 = Artefact(
    name="table4",
    title="cost of one step",
    shows=(
        "What it costs to add a point, to answer, to answer autoregressively and to train, as the context grows. The "
        "paper derives linear updates for incTNP where TNP-D's are quadratic."
    ),
    study="step-cost",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    counted=True,
)
