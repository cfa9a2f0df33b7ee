"""Times variants of the same work side by side, so that only their ratio matters."""

import ctypes
import os
import platform
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import torch

Work = Callable[[], Any]
Clock = Callable[[], float]
SHORT = 0.02
"""Seconds: shorter work is repeated until this much was spent, and its mean is one sample."""
MOST_AT_ONCE = 40
LONG = 0.5
"""Seconds from which work is run but once before it is timed."""


@dataclass(frozen=True)
class Timing:
    """Seconds: the median, and the quartiles around it."""

    median: float
    low: float
    high: float
    peak: int | None = None
    """Bytes resident at most, on top of those before; None where Linux does not tell."""

    def times(self, count: float) -> "Timing":
        """What `count` such runs after each other take."""
        return replace(self, median=count * self.median, low=count * self.low, high=count * self.high)


def processor_seconds() -> float:
    """Seconds that this process computed: on one thread those of an idle machine, however busy this one is."""
    return time.process_time()


def childrens_seconds() -> float:
    """Seconds that finished processes of ours computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def usual_clock() -> Clock:
    """With threads only the clock on the wall says how long work takes."""
    return processor_seconds if torch.get_num_threads() == 1 else time.perf_counter


def interleaved(
    variants: Mapping[str, Work], repeats: int, budget: float = 20.0, clock: Clock | None = None
) -> dict[str, Timing]:
    """Run every variant in turn, so that whatever else the machine does hits all of them alike.

    Short work is repeated before the next variant's turn, once more than is timed: the others have emptied the
    processor's caches, which a stream would find full. A variant that has used up its share of the budget (seconds)
    drops out after at least two samples. Memory is that of its first sample after the warm-up.
    """
    clock = clock or usual_clock()
    counts = {name: _how_often(run, clock) for name, run in variants.items()}
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    peaks: dict[str, int | None] = {}
    for _ in range(repeats):
        for name, run in variants.items():
            if len(seconds[name]) >= 2 and sum(seconds[name]) * counts[name] > budget / len(variants):
                continue
            before = _resident_from_here() if name not in peaks else None
            seconds[name].append(_sample(run, counts[name], clock))
            if name not in peaks:
                peaks[name] = None if before is None else max(0, _status("VmHWM") - before)
    return {name: summary(values, peaks[name]) for name, values in seconds.items()}


def summary(seconds: list[float], peak: int | None = None) -> Timing:
    """Median and quartiles."""
    ordered = sorted(seconds)
    return Timing(median(ordered), ordered[len(ordered) // 4], ordered[(3 * len(ordered)) // 4], peak)


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    model = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown"
    )
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "clock": "processor time" if torch.get_num_threads() == 1 else "wall time",
        "load": round(os.getloadavg()[0], 1),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def _how_often(run: Work, clock: Clock) -> int:
    """After a warm-up: times that make a sample long enough."""
    start = clock()
    run()
    if clock() - start > LONG:
        return 1
    start = clock()
    run()
    return max(1, min(MOST_AT_ONCE, int(SHORT / max(clock() - start, 1e-6))))


def _sample(run: Work, count: int, clock: Clock) -> float:
    if count > 1:
        run()
    start = clock()
    for _ in range(count):
        run()
    return (clock() - start) / count


def resident() -> int:
    """Bytes of this process in memory now."""
    return _status("VmRSS")


def _resident_from_here() -> int | None:
    """Bytes resident now, from which the most that will be is counted anew."""
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        return None
    # Pages that were freed but kept by the allocator would hide what the work takes.
    ctypes.CDLL(None).malloc_trim(0)
    reset.write_text("5")
    return _status("VmRSS")


def _status(key: str) -> int:
    line = next(line for line in _lines("/proc/self/status") if line.startswith(key))
    return int(line.split()[1]) * 1024


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []
