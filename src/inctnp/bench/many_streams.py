"""Many streams of different lengths, one row for each: in one call, in a loop, and as a batch of equal lengths."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from inctnp.bench.measured import Measured, Settings, Subject, all_of
from inctnp.bench.setting import default_model, points, take_back
from inctnp.bench.timing import Work, interleaved
from inctnp.models.inc_tnp import IncTNP
from inctnp.streaming.session import Stream
from inctnp.streaming.together import step_together

SHORTEST, LONGEST = 100, 300
MEAN = (SHORTEST + LONGEST) // 2
"""Rows of a stream on average."""


def measure(settings: Settings) -> Iterator[Measured]:
    """Predict and learn one row for every stream."""
    model = default_model()
    for size in settings.sizes:
        x, y = points(size, seed=1)
        fused, eager = (_streams(model, size, backend) for backend in ("fused", "eager"))
        narrow = _streams(model, size, "fused", "int8")
        equal = model.stream(batch=size)
        before = (rows.view(size, MEAN, -1) for rows in points(size * MEAN, seed=2))
        equal.observe(*before)
        equal.observe(x, y)
        take_back(equal._memory.context)
        equal.rollback(to=len(equal) - 1)
        variants: dict[str, Work] = {
            "one call": _together(fused, x, y),
            "one call, int8": _together(narrow, x, y),
            "loop, fused": _loop(fused, x, y),
            "loop, eager": _loop(eager, x, y),
            "batch of equal lengths": _batch(equal, x, y),
        }
        timings = interleaved(variants, settings.repeats, settings.budget)
        facts = {name: {"rows/s": size / timing.median} for name, timing in timings.items()}
        yield from all_of("predict and learn a row of every stream", size, timings, facts)


def _streams(model: IncTNP, count: int, backend: str, storage: str = "exact") -> list[Stream]:
    """Streams of all lengths, with room behind their rows."""
    made = []
    x, y = points(LONGEST, seed=3)
    for i in range(count):
        stream = model.stream(backend=backend, storage=storage)
        length = SHORTEST + (LONGEST - SHORTEST) * i // max(1, count - 1)
        stream.observe(x[:length], y[:length])
        stream.observe(x[0], y[0])
        take_back(stream._memory.context)
        stream.rollback(to=length)
        made.append(stream)
    return made


def _together(streams: Sequence[Stream], x: Tensor, y: Tensor) -> Work:
    def run() -> None:
        forks = [stream.fork() for stream in streams]
        step_together(forks, x, y)
        _undo(streams)

    return run


def _loop(streams: Sequence[Stream], x: Tensor, y: Tensor) -> Work:
    def run() -> None:
        for i, stream in enumerate(streams):
            stream.fork().step(x[i], y[i])
        _undo(streams)

    return run


def _batch(streams: Stream, x: Tensor, y: Tensor) -> Work:
    def run() -> None:
        fork = streams.fork()
        fork.predict(x)
        fork.observe(x, y)
        take_back(streams._memory.context)

    return run


def _undo(streams: Sequence[Stream]) -> None:
    for stream in streams:
        take_back(stream._memory.context)


SUBJECT = Subject(
    title="Many streams",
    ours="one call",
    measure=measure,
    sizes=(16, 64, 256),
    quick=(2, 3),
    size_is="streams",
)
