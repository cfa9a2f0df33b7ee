"""Figure 6: joint log-likelihood of temperatures as observations stream in."""

from dataclasses import replace

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.sources import StationSize
from inctnp.paper.streaming_stations import StationStreamSettings, draw, plan, tell

PAPER = StationStreamSettings()
CPU = replace(
    PAPER, batches=2, size=StationSize(targets=16, batch_size=4), shares=(0.01, 0.05, 0.2, 0.5, 1.0), most=1000
)
SMOKE = replace(
    PAPER, batches=1, size=StationSize(batch_size=2, context=(20, 30), targets=5), shares=(0.1, 1.0), most=30
)

FIG6 = Artefact(
    name="fig6",
    title="streaming temperature",
    shows=(
        "Temperatures at fixed stations, asked again and again as observations arrive in order of time. The paper "
        "finds incTNP-Seq generally ahead of the other models, in interpolation and in forecasting."
    ),
    study="streaming-stations",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=draw,
)
