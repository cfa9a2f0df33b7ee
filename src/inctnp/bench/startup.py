"""What it takes to begin: each variant is a process of its own, so files are warm and nothing else is."""

import subprocess
import sys
from collections.abc import Iterator

from inctnp.bench.measured import Measured, Settings, Subject, all_of
from inctnp.bench.timing import Work, childrens_seconds, interleaved

FIRST = "import inctnp; m = inctnp.load('rbf-64/inctnp-seq'); s = m.stream(backend={!r}); s.observe([[0.0]], [0.0]); "
PROGRAMS = {
    "python alone": ["-c", ""],
    "import torch": ["-c", "import torch"],
    "import inctnp": ["-c", "import inctnp"],
    "inctnp --help": ["-m", "inctnp", "--help"],
    "first prediction": ["-c", FIRST.format("auto") + "s.predict([0.5]).mean"],
    "first fused prediction": ["-c", FIRST.format("fused") + "s.predict([0.5]).mean"],
}


def measure(settings: Settings) -> Iterator[Measured]:
    """Processor seconds of whole processes; there is no size to them."""
    variants: dict[str, Work] = {name: _run(arguments) for name, arguments in PROGRAMS.items()}
    timings = interleaved(variants, settings.repeats, len(variants) * settings.budget, childrens_seconds)
    yield from all_of("from start to end of a process", 1, timings)


def _run(arguments: list[str]) -> Work:
    return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


SUBJECT = Subject(title="Start-up", ours="import inctnp", measure=measure, sizes=(1,), quick=(1,), size_is="process")
