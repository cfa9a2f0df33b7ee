"""Times variants of the same work side by side, so that only their ratio matters."""

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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


def interleaved(variants: Mapping[str, Callable[[], Any]], repeats: int, budget: float = 20.0) -> dict[str, Timing]:
    """Run every variant in turn, so that whatever else the machine does hits all of them alike.

    A variant that has used up its share of the budget (seconds) drops out after at least two runs.
    """
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for run in variants.values():
        run()
    for _ in range(repeats):
        for name, run in variants.items():
            if len(seconds[name]) >= 2 and sum(seconds[name]) > budget / len(variants):
                continue
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: _summary(sorted(values)) for name, values in seconds.items()}


def peak_bytes(run: Callable[[], Any]) -> int | None:
    """Resident memory that `run` needs on top of what is resident before it; None where Linux does not tell."""
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        return None
    run()
    before = _status("VmRSS")
    reset.write_text("5")
    run()
    return max(0, _status("VmHWM") - before)


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


def _summary(ordered: list[float]) -> Timing:
    return Timing(median(ordered), ordered[len(ordered) // 4], ordered[(3 * len(ordered)) // 4])


def _status(key: str) -> int:
    line = next(line for line in _lines("/proc/self/status") if line.startswith(key))
    return int(line.split()[1]) * 1024


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []
