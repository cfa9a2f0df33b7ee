"""Table 7: all memory of a step of a stream, kept and transient, counted."""

from collections.abc import Iterator, Mapping

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cost_curves import along, grown, power
from inctnp.paper.markdown import Block, big, table
from inctnp.paper.memory_curves import ATTENTIONS, MODELS, PERSISTENT, memory_cells, totals
from inctnp.paper.plotting import label
from inctnp.paper.results import Results
from inctnp.paper.table6_transient_memory import CPU, PAPER, SMOKE

CLAIMED: Mapping[tuple[str, str], int] = {
    ("fused", "inctnp"): 1,
    ("fused", "tnp-d"): 1,
    ("plain", "inctnp"): 1,
    ("plain", "tnp-d"): 2,
}
"""Degrees in N_s of the paper's table, the same for both ways of asking."""


def tell(results: Results) -> Iterator[Block]:
    """Exponents of the total, and what part of it is kept between steps."""
    yield (
        "Weights and context as they are kept between steps, and the most that an update or a question adds for a "
        "moment. Exponents are of the growth with the context, without the part that does not grow."
    )
    lines = []
    for attention in ATTENTIONS:
        for model in MODELS:
            here = results.where(attention=attention, model=model)
            lengths, kept = along(here, PERSISTENT)
            for asked in ("query", "autoregressive"):
                if lengths:
                    total = totals(lengths, kept, along(here, "update@")[1], along(here, f"{asked}@")[1])
                    claimed, fitted = power(CLAIMED[attention, model], 0), power(grown(lengths, total))
                    ends = [big(kept[-1]), big(total[-1])]
                    lines.append([f"{attention}, {label(model)}, {asked}", claimed, fitted, *ends])
    last = results.rows[0]["setup"]["lengths"][-1]
    yield table(["", "paper", "fitted", f"kept at N = {last}", f"total at N = {last}"], lines)


TABLE7 = Artefact(
    name="table7",
    title="total memory of a step",
    shows=(
        "All the memory of a step. The paper derives linear growth for both models with memory-efficient attention, "
        "incTNP holding more, and quadratic growth for TNP-D with plain attention."
    ),
    study="memory",
    settings=scales(SMOKE, CPU, PAPER),
    plan=memory_cells,
    tell=tell,
    counted=True,
)
