"""A stream without end under a window: rows come in chunks, and now and then some come alone and are timed."""

from collections.abc import Iterator

from inctnp.bench.measured import Measured, Settings, Subject
from inctnp.bench.setting import default_model, points
from inctnp.bench.timing import resident, summary, usual_clock
from inctnp.streaming.session import Stream

WINDOW, CHUNK = 1000, 1000
STEP = "predict and learn a row"


def measure(settings: Settings) -> Iterator[Measured]:
    """Time and bytes after ever more rows: neither may grow."""
    model, clock = default_model(), usual_clock()
    stream = model.stream(policy="window", max_points=WINDOW, backend="fused")
    for size in sorted(settings.sizes):
        start, before = clock(), len(stream)
        while len(stream) < size:
            stream.observe(*points(min(CHUNK, size - len(stream)), seed=len(stream)))
        fed = (clock() - start) / max(1, size - before)
        facts = {"fed at ms/row": 1e3 * fed, "holds MB": stream.nbytes / 1e6, "resident MB": resident() / 1e6}
        timing = summary(_singly(stream, settings.repeats))
        yield Measured(work=STEP, size=size, variant=f"window of {WINDOW}", timing=timing, facts=facts)


def _singly(stream: Stream, samples: int) -> list[float]:
    """Seconds a row; a sample goes from one change-over to the next, for the fuller a context the dearer its rows."""
    clock, spent = usual_clock(), []
    for sample in range(samples):
        x, y = points(WINDOW // 2, seed=sample)
        start = clock()
        for i in range(len(x)):
            stream.step(x[i], y[i])
        spent.append((clock() - start) / len(x))
    return spent


SUBJECT = Subject(
    title="A stream without end",
    ours=f"window of {WINDOW}",
    measure=measure,
    sizes=(10_000, 100_000, 1_000_000),
    quick=(1500, 3000),
)
