"""What joint draws of many targets cost, in time and bytes, when the past is shared between them and when it is not.

Draws do not depend on each other and a target is one encoding, so `again` is one encoding and question, multiplied.
"""

from collections.abc import Iterator

import torch

from inctnp.bench import cost_model
from inctnp.bench.copying import CopyingIncTNP
from inctnp.bench.measured import Measured, Settings, Subject, all_of
from inctnp.bench.setting import default_model, points, with_room
from inctnp.bench.timing import Work, interleaved
from inctnp.streaming.recompute import query_from_scratch

DRAWS = 50
TARGETS, MANY = 50, 250
"""Beside rivals, and by the shared past alone: with 250 targets a copy for every draw takes minutes."""
COPIED_UP_TO = 1000
"""Rows up to which every draw can have a copy of the past: 50 of them take 5 MB a row."""
AGAIN_UP_TO = 10_000


def measure(settings: Settings) -> Iterator[Measured]:
    """Draws of all targets at every length."""
    for size in settings.sizes:
        yield from _draws_of(TARGETS, size, settings, rivals=True)
        yield from _draws_of(MANY, size, settings, rivals=False)


def _draws_of(targets: int, size: int, settings: Settings, *, rivals: bool) -> Iterator[Measured]:
    model = default_model()
    copying = CopyingIncTNP(model)
    xt, _ = points(targets, seed=4)
    with torch.inference_mode():
        context = with_room(model, size)
        variants: dict[str, Work] = {"shared": lambda: model.joint_sample(context, xt, DRAWS)}
        if rivals and size <= COPIED_UP_TO:
            copied = copying.resumed(context)
            variants["copy"] = lambda: copying.sample(copied, xt[None], DRAWS)
        if rivals and size <= AGAIN_UP_TO:
            x, y = points(size, seed=size)
            variants["again"] = lambda: query_from_scratch(model, x, y, xt[:1])
        timings = interleaved(variants, settings.repeats, settings.budget)
    if "again" in timings:
        timings["again"] = timings["again"].times(DRAWS * targets)
    counted = cost_model.draw(model, size, DRAWS, targets)
    facts = {"shared": {"GFLOP": counted.flops / 1e9, "GB read": counted.bytes / 1e9}}
    yield from all_of(f"{DRAWS} joint draws of {targets}", size, timings, facts)


SUBJECT = Subject(
    title="Joint draws",
    ours="shared",
    measure=measure,
    sizes=(100, 1000, 10_000),
    quick=(5, 10),
    shows_memory=True,
)
