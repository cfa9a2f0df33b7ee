"""Figure 12: Figure 2 with the runs that failed to converge."""

from functools import partial

from inctnp.paper.artefact import Artefact
from inctnp.paper.fig2_robustness import FIG2
from inctnp.paper.robustness import draw, plan, tell

FIG12 = Artefact(
    name="fig12",
    title="robustness, outliers included",
    shows=(
        "Figure 2 with every run. The paper finds that TNP-D and incTNP fail at its highest rate without a schedule, "
        "incTNP-Seq never."
    ),
    study=FIG2.study,
    settings=FIG2.settings,
    plan=plan,
    tell=tell,
    draw=partial(draw, outliers=True),
)
