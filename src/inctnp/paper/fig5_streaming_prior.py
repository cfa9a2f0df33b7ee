"""Figure 5: test log-likelihood and cost on synthetic tables as rows stream in."""

from dataclasses import replace

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.streaming_prior import PriorStreamSettings, draw, plan, tell

PAPER = PriorStreamSettings()
SMOKE = replace(PAPER, reach=((4, 2), (16, 1)), cost_lengths=(8, 12), targets=4, wiski_epochs=2)
CPU = replace(
    PAPER,
    reach=((32, 32), (128, 32), (512, 32), (1024, 32), (4096, 8), (10_000, 2), (30_000, 2)),
    cost_lengths=(1000, 2000, 4000, 10_000, 30_000),
)

FIG5 = Artefact(
    name="fig5",
    title="streaming synthetic tables",
    shows=(
        "Likelihood and the cost of an update as a stream grows to 30 000 rows, thirty times the longest context of "
        "training. The paper finds incTNP-Seq ahead of TNP-D and incTNP throughout, and the incremental models far "
        "cheaper."
    ),
    study="streaming-prior",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=draw,
)
