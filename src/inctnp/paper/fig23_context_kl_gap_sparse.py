"""Figure 23: sensitivity to the order of 8 context points, beside the noise of TNP-A's unrolls."""

from collections.abc import Sequence

from inctnp.metrics.context_kl_gap import ContextKLGapSettings
from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.context_consistency import Contestant, ContextGapSettings, draw, plan, tell

MODELS = ("tnp-d", "inctnp", "inctnp-seq")


def settings(
    tasks: tuple[int, int], metrics: Sequence[ContextKLGapSettings], unrolls: Sequence[int], points: tuple[int, int]
) -> ContextGapSettings:
    """Tasks and effort of the factorised models and of TNP-A, its numbers of unrolls, and the size of a task."""
    alone = tuple(Contestant(model=model, tasks=tasks[0], metric=metrics[0]) for model in MODELS)
    joint = tuple(Contestant(model="tnp-a", tasks=tasks[1], metric=metrics[1], unrolls=n) for n in unrolls)
    return ContextGapSettings(setting="rbf-64", context=points[0], targets=points[1], contestants=(*alone, *joint))


def _metric(effort: int) -> ContextKLGapSettings:
    return ContextKLGapSettings(orders=effort, draws=effort)


PAPER = settings((4096, 1024), (_metric(256), _metric(128)), (50, 100), (8, 10))
CPU = settings((1024, 32), (_metric(64), _metric(16)), (50, 100), (8, 10))
SMOKE = settings((2, 2), (_metric(2), _metric(2)), (2, 3), (4, 3))

FIG23 = Artefact(
    name="fig23",
    title="sensitivity to the order of a short context",
    shows=(
        "The context KL gap for 8 context points and 10 targets. TNP-A knows no context order, but averages over "
        "random unrolls: the paper finds the incremental models between its noise at 50 and at 100 unrolls."
    ),
    study="context-kl-gap-8",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=draw,
)
