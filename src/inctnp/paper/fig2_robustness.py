"""Figure 2: log-likelihood over learning rates and schedules, without outliers."""

from functools import partial

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.robustness import RobustnessSettings, Sweep, draw, plan, tell
from inctnp.paper.short_runs import Reduction

GP_RATES = (1e-4, 3e-4, 5e-4, 1e-3, 2e-3)
TABULAR_RATES = (1e-4, 3e-4, 5e-4, 1e-3, 3e-3, 5e-3)
NARROW = {"width": 32, "heads": 4, "feedforward": 32, "layers": 3}
"""A network that a processor takes a hundred steps a second with."""
FEW = {"targets": 32, "batch_size": 8}
HIGH_RATES = (5e-4, 2e-3, 8e-3)
"""Narrow networks and short runs take higher rates than the paper's."""
TINY = Reduction(steps=2, network={"width": 8, "heads": 2, "feedforward": 8, "layers": 1}, tasks={"batch_size": 2})


def tiny(sweep: Sweep) -> Sweep:
    """For a smoke test."""
    return Sweep(data=sweep.data, setting=sweep.setting, rates=(1e-3, 3e-3), reduction=TINY, test_batches=2)


RBF = Sweep(data="RBF, contexts to 64", setting="rbf-64", rates=GP_RATES)
TABULAR = Sweep(
    data="tables, contexts to 512",
    setting="tabular",
    rates=TABULAR_RATES,
    reduction=Reduction(tasks={"context": (10, 512)}),
)
RBF_CPU = Sweep(
    data="RBF, contexts to 64",
    setting="rbf-64",
    rates=HIGH_RATES,
    reduction=Reduction(steps=800, network=NARROW, tasks=FEW),
    test_batches=128,
)
TABULAR_CPU = Sweep(
    data="tables, contexts to 128",
    setting="tabular",
    rates=HIGH_RATES,
    reduction=Reduction(steps=400, network=NARROW, tasks={**FEW, "context": (10, 128)}),
    test_batches=128,
)

PAPER = RobustnessSettings(sweeps=(RBF, TABULAR))
CPU = RobustnessSettings(sweeps=(RBF_CPU, TABULAR_CPU))
SMOKE = RobustnessSettings(sweeps=(tiny(RBF),))

FIG2 = Artefact(
    name="fig2",
    title="robustness to learning rate and schedule",
    shows=(
        "Every model trained with every learning rate, held constant or annealed. The paper finds a narrower spread "
        "for incTNP-Seq, whose best run the others do not reach even with equal compute."
    ),
    study="robustness",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=partial(draw, outliers=False),
)
