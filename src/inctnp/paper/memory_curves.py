"""Bytes that each model holds as its context grows, with attention fused and plain.  (Tab. 6-7, Fig. 21)"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from inctnp.metrics.cost import CostSettings, Prepared, Work, prepare
from inctnp.metrics.live_memory import Attention, fused, peak_bytes, plain
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values
from inctnp.paper.cost_curves import SETTING

MODELS = ("inctnp", "tnp-d")
ATTENTIONS: Mapping[str, Attention] = {"fused": fused, "plain": plain}
ASKED: Mapping[str, Callable[[Prepared], Work]] = {
    "update": lambda ready: ready.extend_and_ask_one,
    "query": lambda ready: ready.query,
    "autoregressive": lambda ready: ready.autoregressive,
}
PERSISTENT = "persistent@"
"""Weights and context between steps."""


@dataclass(frozen=True, kw_only=True)
class MemorySettings:
    """Lengths of context, and what is asked at each."""

    lengths: tuple[int, ...] = (1200, 2000, 3000, 4000, 6000)
    """Long enough for the fused kernel to be chosen everywhere."""
    targets: int = 250
    draws: int = 4
    joint_targets: int = 3
    """Targets of an autoregressive question: memory peaks at the last one, however many come before."""


def memory_cells(settings: MemorySettings, cast: Cast) -> Iterator[Cell]:
    """One cell for each model and kernel."""
    for model in MODELS:
        player = cast.untrained(SETTING, model)
        for attention in ATTENTIONS:
            yield Cell(
                labels={"attention": attention, "model": model},
                setup={
                    "lengths": list(settings.lengths),
                    "targets": settings.targets,
                    "draws": settings.draws,
                    "joint targets": settings.joint_targets,
                },
                player=player,
                measure=partial(measure_memory, player, attention, settings),
            )


def measure_memory(player: Player, attention: str, settings: MemorySettings) -> Values:
    """What is kept, and the most that each question allocates on top of it."""
    model, values = player.load(), {}
    sizes = {"update": settings.targets, "query": settings.targets, "autoregressive": settings.joint_targets}
    weights = sum(parameter.nbytes for parameter in model.parameters())
    for points in settings.lengths:
        for asked, targets in sizes.items():
            ready = prepare(model, points, CostSettings(targets=targets, draws=settings.draws))
            values[f"{PERSISTENT}{points}"] = float(weights + ready.context.nbytes)
            values[f"{asked}@{points}"] = float(peak_bytes(ASKED[asked](ready), ATTENTIONS[attention]))
    return values


def totals(lengths: Sequence[int], kept: Sequence[float], *parts: Sequence[float]) -> list[float]:
    """What is kept, and the largest of the transient parts, at each length."""
    return [kept[i] + max(part[i] for part in parts) for i in range(len(lengths))]
