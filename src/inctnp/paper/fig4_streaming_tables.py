"""Figure 4: test log-likelihood on four UCI tables as rows stream in."""

from dataclasses import replace

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.streaming_tables import TableStreamSettings, draw, plan, tell

PAPER = TableStreamSettings()
SMOKE = replace(PAPER, permutations=1, checkpoints=2, most_rows=12, most_targets=16, wiski_epochs=2)
CPU = replace(PAPER, permutations=2, checkpoints=7, most_rows=2048, most_targets=1000)

FIG4 = Artefact(
    name="fig4",
    title="streaming real tables",
    shows=(
        "A fifth of a table is asked for again and again while the rest streams in. The paper finds that every model "
        "gains with the length of the stream, and incTNP-Seq most robust on Protein."
    ),
    study="streaming-tables",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=draw,
)
