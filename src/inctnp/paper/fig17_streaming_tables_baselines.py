"""Figure 17: Figure 4 with the baselines LBANP and WISKI."""

from collections.abc import Mapping
from dataclasses import replace

from inctnp.paper.artefact import SCALES, Artefact
from inctnp.paper.fig4_streaming_tables import FIG4
from inctnp.paper.streaming_tables import TableStreamSettings, draw, plan, tell

MODELS = ("tnp-d", "inctnp", "inctnp-seq", "lbanp", "wiski")
SETTINGS: Mapping[str, TableStreamSettings] = {name: replace(FIG4.settings[name], models=MODELS) for name in SCALES}

FIG17 = Artefact(
    name="fig17",
    title="streaming real tables, with baselines",
    shows=(
        "Figure 4 with LBANP, which encodes its context anew for every row, and WISKI, a streaming Gaussian process. "
        "The paper finds both well below the transformers with full attention."
    ),
    study="streaming-tables",
    settings=SETTINGS,
    plan=plan,
    tell=tell,
    draw=draw,
)
