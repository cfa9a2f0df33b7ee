"""What a row and a question cost against the length of the stream.

Rivals have the same weights: encoding everything again, and a cache that grows by copying and projects the
cross-attention keys at every question. `read once` touches every key and value that the work has to read, which is the
time no exact method can undercut; `predicted` is the model of cost.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from inctnp.bench import cost_model
from inctnp.bench.copying import CopyingIncTNP
from inctnp.bench.measured import Measured, Settings, Subject, all_of
from inctnp.bench.setting import default_model, narrowed, points, take_back, with_room
from inctnp.bench.timing import Timing, Work, interleaved, summary, usual_clock
from inctnp.models.inc_tnp import CachedContext, IncTNP
from inctnp.streaming.recompute import query_from_scratch
from inctnp.streaming.session import Stream

STEP, LEARN, ASK, ASK_MANY, PREFILL = "predict and learn a row", "learn a row", "ask 1", "ask 250", "prefill"
MANY = 250
NARROW = ("bfloat16", "int8")
AGAIN_UP_TO = 10_000
"""Rows up to which encoding everything again is waited for."""
FAR = (10**6, 10**7, 10**8, 10**9)
ACCELERATOR = 3e12
"""Bytes a second that the memory of a large accelerator delivers, by its data sheet."""
Variants = dict[str, Work]


class Cases:
    """The work to be timed at one length of the stream."""

    def __init__(self, model: IncTNP, context: CachedContext) -> None:
        self.model, self.context, self.size = model, context, len(context)
        self.copying = CopyingIncTNP(model)
        x, y = points(self.size, seed=self.size)
        self.x, self.y = x[None], y[None]
        self.copied = self.copying.resumed(context)
        self.row, self.outcome = points(1, seed=1)

    def step(self) -> Variants:
        variants: Variants = {"fused": self._stepping("fused", self.context)}
        for storage in NARROW:
            variants[f"fused {storage}"] = self._stepping("fused", narrowed(self.model, self.context, storage))
        variants |= {"eager": self._stepping("eager", self.context), "copy": self._copy_step}
        return variants | self._again(self.row) | {"read once": self._reading(range(self.model.stack.slots))}

    def learn(self) -> Variants:
        slots = range(self.model.stack.layers, self.model.stack.slots)
        row, outcome = self.row[None], self.outcome[None]
        return {
            "fused": self._learning("fused"),
            "eager": self._learning("eager"),
            "copy": lambda: self.copying.extend(self.copied, row, outcome),
            "read once": self._reading(slots),
        }

    def ask(self, targets: int) -> Variants:
        xt, _ = points(targets, seed=3)
        fused, eager = (self._stream(backend, self.context) for backend in ("fused", "eager"))
        return {
            "fused": lambda: fused.predict(xt),
            "eager": lambda: eager.predict(xt),
            "copy": lambda: self.copying.query(self.copied, xt[None]),
            "read once": self._reading(range(self.model.stack.layers)),
        }

    def _stream(self, backend: str, context: CachedContext) -> Stream:
        stream = self.model.stream(backend=backend, storage=context.cache.storage.name)
        stream._memory = replace(stream._memory, context=context, seen=len(context))
        return stream

    def _stepping(self, backend: str, context: CachedContext) -> Work:
        stream = self._stream(backend, context)

        def run() -> None:
            stream.fork().step(self.row[0], self.outcome[0])
            take_back(context)

        return run

    def _learning(self, backend: str) -> Work:
        stream = self._stream(backend, self.context)

        def run() -> None:
            stream.fork().observe(self.row[0], self.outcome[0])
            take_back(self.context)

        return run

    def _copy_step(self) -> None:
        self.copying.query(self.copied, self.row[None])
        self.copying.extend(self.copied, self.row[None], self.outcome[None])

    def _again(self, xt: torch.Tensor) -> Variants:
        if self.size > AGAIN_UP_TO:
            return {}
        return {"again": lambda: query_from_scratch(self.model, self.x, self.y, xt[None])}

    def _reading(self, slots: range) -> Work:
        cache = self.context.cache
        held = [cache.pieces(slot, torch.float32)[0] for slot in slots]
        return lambda: torch.stack([rows.sum() for rows in held])


def measure(settings: Settings) -> Iterator[Measured]:
    """Every piece of work at every length, then the prediction of each and what follows for lengths out of reach."""
    model = default_model()
    rows: list[Measured] = []
    with torch.no_grad():
        for size in (1, *settings.sizes):
            rows += _at(model, size, settings)
    yield from (row for row in rows if row.size > 1)
    yield from predictions(model, rows, settings.sizes)


def _at(model: IncTNP, size: int, settings: Settings) -> Iterator[Measured]:
    clock = usual_clock()
    start = clock()
    context = with_room(model, size)
    yield Measured(work=PREFILL, size=size, variant="in chunks", timing=summary([clock() - start]))
    cases = Cases(model, context)
    work: dict[str, Variants] = {
        STEP: cases.step(),
        LEARN: cases.learn(),
        ASK: cases.ask(1),
        ASK_MANY: cases.ask(MANY),
    }
    held = {"fused": {"holds MB": context.nbytes / 1e6}, "copy": {"holds MB": cases.copied.nbytes / 1e6}}
    for name, variants in work.items():
        timings = interleaved(variants, settings.repeats, settings.budget)
        yield from all_of(name, size, timings, held if name == STEP else None)


def predictions(model: IncTNP, rows: list[Measured], sizes: tuple[int, ...]) -> Iterator[Measured]:
    """From what a context of one row takes and the rate at which the longest one is read."""
    spent = {(row.work, row.size, row.variant): row.timing.median for row in rows if row.timing}
    longest = max(sizes)
    bandwidth = longest * model.bytes_per_point() / spent[STEP, longest, "read once"]
    counts: dict[str, Any] = {
        LEARN: lambda n: cost_model.learn(model, n),
        ASK: lambda n: cost_model.ask(model, n),
        STEP: lambda n: cost_model.learn(model, n) + cost_model.ask(model, n),
    }
    for work, count in counts.items():
        fixed = spent[work, 1, "fused"]
        for size in sizes:
            yield _predicted(work, size, "predicted", count(size).seconds(fixed, bandwidth))
    fixed = spent[STEP, 1, "fused"]
    for size in FAR:
        cost = counts[STEP](size)
        held = {"holds GB": size * model.bytes_per_point() / 1e9}
        here, there = cost.seconds(fixed, bandwidth), cost.seconds(fixed, ACCELERATOR)
        yield _predicted("extrapolated on paper: " + STEP, size, "fused", here, held)
        yield _predicted("extrapolated on paper: " + STEP, size, "memory of 3 TB/s", there)


def _predicted(work: str, size: int, variant: str, seconds: float, facts: dict[str, float] | None = None) -> Measured:
    timing = Timing(seconds, seconds, seconds)
    return Measured(work=work, size=size, variant=variant, timing=timing, facts=facts or {})


SUBJECT = Subject(
    title="A row and a question against the length of the stream",
    ours="fused",
    measure=measure,
    sizes=(100, 1000, 10_000, 30_000),
    quick=(20, 40),
)
