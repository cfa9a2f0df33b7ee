"""What a joint density of many targets costs: one masked pass, or one target after the other."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from inctnp.bench.copying import CopyingIncTNP
from inctnp.bench.measured import Measured, Settings, Subject, all_of
from inctnp.bench.setting import default_model, points, with_room
from inctnp.bench.timing import Work, interleaved
from inctnp.models.inc_tnp import CachedContext, IncTNP
from inctnp.streaming.recompute import query_from_scratch

TARGETS = 250
AGAIN_UP_TO = 10_000


def one_after_the_other(model: IncTNP, context: CachedContext, xt: Tensor, yt: Tensor) -> Tensor:
    """The same density by predicting and learning target after target."""
    parts: list[Any] = []
    for i in range(len(xt)):
        predictive, context = model.query_then_extend(context, xt[i : i + 1], yt[i : i + 1])
        parts.append(predictive.log_prob(yt[i : i + 1]).sum())
    return torch.stack(parts).sum()


def measure(settings: Settings) -> Iterator[Measured]:
    """The density of all targets at every length."""
    model = default_model()
    copying = CopyingIncTNP(model)
    xt, yt = points(TARGETS, seed=5)
    for size in settings.sizes:
        with torch.inference_mode():
            context = with_room(model, size)
            copied = copying.resumed(context)
            variants: dict[str, Work] = {
                "one pass": lambda c=context: model.joint_log_prob(c, xt, yt),
                "one by one": lambda c=context: one_after_the_other(model, c, xt, yt),
                "copy": lambda c=copied: copying.joint_log_prob(c, xt[None], yt[None]),
            }
            if size <= AGAIN_UP_TO:
                x, y = points(size, seed=size)
                variants["again"] = lambda x=x, y=y: query_from_scratch(model, x, y, xt[:1])
            timings = interleaved(variants, settings.repeats, settings.budget)
        if "again" in timings:
            timings["again"] = timings["again"].times(TARGETS)
        yield from all_of(f"joint density of {TARGETS}", size, timings)


SUBJECT = Subject(
    title="Joint densities",
    ours="one pass",
    measure=measure,
    sizes=(100, 1000, 10_000),
    quick=(5, 10),
    shows_memory=True,
)
