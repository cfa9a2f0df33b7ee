"""Figure 11: Figure 2 for tables with contexts to 1024 rows."""

from dataclasses import replace
from functools import partial

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.fig2_robustness import FEW, TABULAR, TABULAR_CPU, tiny
from inctnp.paper.robustness import RobustnessSettings, draw, plan, tell
from inctnp.paper.short_runs import NOT_REDUCED

LONG = replace(TABULAR, data="tables, contexts to 1024", reduction=NOT_REDUCED)
LONG_CPU = replace(
    TABULAR_CPU,
    data="tables, contexts to 256",
    reduction=replace(TABULAR_CPU.reduction, steps=300, tasks={**FEW, "context": (10, 256)}),
)

PAPER = RobustnessSettings(sweeps=(LONG,))
CPU = RobustnessSettings(sweeps=(LONG_CPU,))
SMOKE = RobustnessSettings(sweeps=(tiny(replace(LONG, data="tables")),))

FIG11 = Artefact(
    name="fig11",
    title="robustness on tables",
    shows=(
        "Figure 2 for tables with longer contexts. The paper finds the same order of models, all somewhat better for "
        "the longer contexts."
    ),
    study="robustness",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=partial(draw, outliers=False),
)
