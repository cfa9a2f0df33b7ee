"""Figure 3: implicit Bayesianness against predictive performance, 40 targets after 20 points."""

from dataclasses import replace

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.consistency import ConsistencySettings, draw, plan, smaller, tell

PAPER = ConsistencySettings()
SMOKE = replace(smaller(PAPER, tasks=2, orders=(4, 2, 2), batch=2), targets=5, wiski_epochs=3)
CPU = smaller(PAPER, tasks=128, orders=(32, 16, 16), batch=64)

FIG3 = Artefact(
    name="fig3",
    title="implicit Bayesianness",
    shows=(
        "How much a prediction rule would gain from not depending on the order of the stream (the KL gap), against how "
        "well it predicts, for 40 targets streamed after 20 points. The paper finds incTNP-Seq's gap similar to "
        "TNP-D's, and WISKI worse in both."
    ),
    study="kl-gap-20-40",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=draw,
)
