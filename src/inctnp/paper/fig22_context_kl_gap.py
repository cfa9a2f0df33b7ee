"""Figure 22: sensitivity to the order of 128 context points."""

from dataclasses import replace

from inctnp.metrics.context_kl_gap import ContextKLGapSettings
from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.context_consistency import Contestant, ContextGapSettings, draw, plan, tell

MODELS = ("tnp-d", "inctnp", "inctnp-seq")


def settings(tasks: int, metric: ContextKLGapSettings, wiski: Contestant) -> ContextGapSettings:
    """The experiment with so much effort for the transformers, and this for WISKI."""
    transformers = tuple(Contestant(model=model, tasks=tasks, metric=metric) for model in MODELS)
    return ContextGapSettings(setting="rbf-512", context=128, targets=128, contestants=(*transformers, wiski))


def _wiski(tasks: int, orders: int) -> Contestant:
    return Contestant(model="wiski", tasks=tasks, metric=ContextKLGapSettings(orders=orders, draws=orders))


PAPER = settings(4096, ContextKLGapSettings(), _wiski(512, 20))
CPU = replace(
    settings(128, ContextKLGapSettings(orders=64, draws=64), _wiski(32, 8)), setting="rbf-64", context=64, targets=64
)
"""Weights for contexts to 64 ship, those for 512 do not."""
SMOKE = replace(settings(2, ContextKLGapSettings(orders=2, draws=4), _wiski(2, 2)), context=6, targets=6)

FIG22 = Artefact(
    name="fig22",
    title="sensitivity to the order of a long context",
    shows=(
        "The context KL gap of many context points against likelihood. The paper, with 128 points and 128 targets, "
        "finds the incremental models about as sensitive as WISKI or less, and better; incTNP-Seq less sensitive than "
        "incTNP."
    ),
    study="context-kl-gap-128",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=draw,
)
