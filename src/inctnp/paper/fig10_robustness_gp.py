"""Figure 10: Figure 2 for both kernel families and both lengths of context."""

from dataclasses import replace
from functools import partial

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.fig2_robustness import FEW, RBF, RBF_CPU, tiny
from inctnp.paper.robustness import RobustnessSettings, draw, plan, tell

RBF_LONG = replace(RBF, data="RBF, contexts to 512", setting="rbf-512")
MIXED = replace(RBF, data="mixed, contexts to 64", setting="mixed-64")
MIXED_LONG = replace(RBF, data="mixed, contexts to 512", setting="mixed-512")

SHORTER = replace(RBF_CPU.reduction, steps=300, tasks={**FEW, "context": (1, 256)})
"""Long contexts are cut to 256 points, and trained on for fewer steps."""

PAPER = RobustnessSettings(sweeps=(RBF, RBF_LONG, MIXED, MIXED_LONG))
CPU = RobustnessSettings(
    sweeps=(
        RBF_CPU,
        replace(RBF_CPU, data="RBF, contexts to 256", setting="rbf-512", reduction=SHORTER),
        replace(RBF_CPU, data="mixed, contexts to 64", setting="mixed-64"),
        replace(RBF_CPU, data="mixed, contexts to 256", setting="mixed-512", reduction=SHORTER),
    )
)
SMOKE = RobustnessSettings(sweeps=(tiny(RBF), tiny(MIXED)))

FIG10 = Artefact(
    name="fig10",
    title="robustness on Gaussian processes",
    shows=(
        "Figure 2 for RBF and mixed kernels, short and long contexts. The paper finds the same order of models "
        "throughout, with larger differences on harder tasks."
    ),
    study="robustness",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=partial(draw, outliers=False),
)
