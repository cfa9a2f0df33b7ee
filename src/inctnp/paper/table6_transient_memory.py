"""Table 6: memory that a step of a stream needs for a moment, counted."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cost_curves import along, grown, power
from inctnp.paper.markdown import NONE, Block, big, table
from inctnp.paper.memory_curves import ASKED, ATTENTIONS, MODELS, MemorySettings, memory_cells
from inctnp.paper.plotting import label
from inctnp.paper.results import Results

CLAIMED: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("fused", "inctnp"): {"update": 1, "query": 1, "autoregressive": 1},
    ("fused", "tnp-d"): {"query": 1, "autoregressive": 1},
    ("plain", "inctnp"): {"update": 1, "query": 1, "autoregressive": 1},
    ("plain", "tnp-d"): {"query": 2, "autoregressive": 2},
}
"""Degrees in N_s of the paper's table. It counts TNP-D's encoding with its query; ours happens once, at the first
question after an update, and is found under update."""

PAPER = MemorySettings()
CPU = replace(PAPER, lengths=(1200, 1600, 2000, 2600), draws=2)
SMOKE = replace(PAPER, lengths=(16, 24, 32), targets=4, draws=2, joint_targets=2)


def tell(results: Results) -> Iterator[Block]:
    """Exponents of what a step allocates."""
    yield (
        "Bytes of tensors alive at once, counted at every operation; what a fused kernel uses inside itself is not "
        "seen. Exponents are of the growth with the context, without the part that does not grow. The paper counts the "
        "encoding of TNP-D with its query; here it happens at the first question after an update, so it is under "
        "*update*, which is what the paper's query column has to be compared with."
    )
    lines = []
    for attention in ATTENTIONS:
        for model in MODELS:
            here = results.where(attention=attention, model=model)
            for asked in ASKED:
                lengths, peaks = along(here, f"{asked}@")
                if lengths:
                    claimed = CLAIMED[attention, model].get(asked)
                    paper = NONE if claimed is None else power(claimed, 0)
                    fitted = power(grown(lengths, peaks))
                    ends = [big(peaks[0]), big(peaks[-1])]
                    lines.append([f"{attention}, {label(model)}, {asked}", paper, fitted, *ends])
    lengths = results.rows[0]["setup"]["lengths"]
    yield table(["", "paper", "fitted", f"bytes at N = {lengths[0]}", f"bytes at N = {lengths[-1]}"], lines)


TABLE6 = Artefact(
    name="table6",
    title="transient memory of a step",
    shows=(
        "What an update or a question allocates and frees again, with fused attention and with all scores in memory. "
        "The paper derives linear growth but for TNP-D with plain attention, whose scores grow with the square."
    ),
    study="memory",
    settings=scales(SMOKE, CPU, PAPER),
    plan=memory_cells,
    tell=tell,
    counted=True,
)
