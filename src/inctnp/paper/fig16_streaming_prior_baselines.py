"""Figure 16: Figure 5 with the baselines LBANP and WISKI."""

from dataclasses import replace

from inctnp.paper.artefact import SCALES, Artefact
from inctnp.paper.fig5_streaming_prior import FIG5
from inctnp.paper.streaming_prior import draw, plan, tell

MODELS = ("tnp-d", "inctnp", "inctnp-seq", "lbanp", "wiski")

FIG16 = Artefact(
    name="fig16",
    title="streaming synthetic tables, with baselines",
    shows=(
        "Figure 5 with LBANP and WISKI. The paper finds the transformers with full attention well ahead of both, and "
        "the incremental ones cheaper than either."
    ),
    study="streaming-prior",
    settings={name: replace(FIG5.settings[name], models=MODELS) for name in SCALES},
    plan=plan,
    tell=tell,
    draw=draw,
)
