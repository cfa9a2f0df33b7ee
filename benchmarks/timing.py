"""Times variants of the same work side by side, so that only their ratio matters."""

import ctypes
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import torch


@dataclass(frozen=True)
class Timing:
    """Seconds: the median, and the quartiles around it."""

    median: float
    low: float
    high: float
    peak: int | None = None
    """Bytes resident at most, on top of those before; None where Linux does not tell."""

    def times(self, count: int) -> "Timing":
        """What `count` such runs after each other take."""
        return replace(self, median=count * self.median, low=count * self.low, high=count * self.high)


def interleaved(variants: Mapping[str, Callable[[], Any]], repeats: int, budget: float = 20.0) -> dict[str, Timing]:
    """Run every variant in turn, so that whatever else the machine does hits all of them alike.

    A variant that has used up its share of the budget (seconds) drops out after at least two runs. Memory is that of
    its first run after the warm-up.
    """
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    peaks: dict[str, int | None] = {}
    for run in variants.values():
        run()
    for _ in range(repeats):
        for name, run in variants.items():
            if len(seconds[name]) >= 2 and sum(seconds[name]) > budget / len(variants):
                continue
            before = _resident_from_here() if name not in peaks else None
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
            if name not in peaks:
                peaks[name] = None if before is None else max(0, _status("VmHWM") - before)
    return {name: _summary(sorted(values), peaks[name]) for name, values in seconds.items()}


def _resident_from_here() -> int | None:
    """Bytes resident now, from which the most that will be is counted anew."""
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        return None
    # Pages that were freed but kept by the allocator would hide what the work takes.
    ctypes.CDLL(None).malloc_trim(0)
    reset.write_text("5")
    return _status("VmRSS")


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    model = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown"
    )
    return {
        "processor": model,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def _summary(ordered: list[float], peak: int | None) -> Timing:
    return Timing(median(ordered), ordered[len(ordered) // 4], ordered[(3 * len(ordered)) // 4], peak)


def _status(key: str) -> int:
    line = next(line for line in _lines("/proc/self/status") if line.startswith(key))
    return int(line.split()[1]) * 1024


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []
