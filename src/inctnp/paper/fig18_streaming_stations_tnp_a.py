"""Figure 18: Figure 6 with TNP-A."""

from dataclasses import replace

from inctnp.paper.artefact import SCALES, Artefact
from inctnp.paper.fig6_streaming_stations import FIG6
from inctnp.paper.streaming_stations import draw, plan, tell

MODELS = ("tnp-d", "inctnp", "inctnp-seq", "cnp", "lbanp", "tnp-a")

FIG18 = Artefact(
    name="fig18",
    title="streaming temperature, with TNP-A",
    shows=(
        "Figure 6 with TNP-A, which cannot update its context. The paper finds it poor with little context and level "
        "with incTNP-Seq at the end of interpolation, and incTNP-Seq best at the end of forecasting."
    ),
    study="streaming-stations",
    settings={name: replace(FIG6.settings[name], models=MODELS) for name in SCALES},
    plan=plan,
    tell=tell,
    draw=draw,
)
