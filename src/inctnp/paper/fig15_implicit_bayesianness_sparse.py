"""Figure 15: implicit Bayesianness from a sparse start, 100 targets after 3 points."""

from dataclasses import replace

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.consistency import MODELS, REFERENCE, ConsistencySettings, draw, plan, smaller, tell

PAPER = ConsistencySettings(context=3, targets=100, models=(*MODELS, REFERENCE))
SMOKE = replace(smaller(PAPER, tasks=2, orders=(3, 2, 2), batch=2), targets=6)
CPU = smaller(PAPER, tasks=32, orders=(16, 8, 16), batch=32)

FIG15 = Artefact(
    name="fig15",
    title="implicit Bayesianness from three points",
    shows=(
        "Figure 3 with 100 targets streamed after only 3 points, without WISKI, which the paper found unstable there. "
        "The paper finds incTNP-Seq's gap marginally above TNP-D's, and its likelihood better."
    ),
    study="kl-gap-3-100",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=draw,
)
