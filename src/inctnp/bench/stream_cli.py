"""What `inctnp stream` costs from the command to the last row, beside a Python that does nothing."""

import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from inctnp.bench.measured import Measured, Settings, Subject, all_of
from inctnp.bench.setting import points
from inctnp.bench.timing import Work, childrens_seconds, interleaved
from inctnp.models.build import build
from inctnp.models.config import ModelConfig
from inctnp.pretrained.weights import save_pretrained

FEATURES = 4
MODEL = ModelConfig(name="inctnp-prior", dim_x=20, components=8)


def measure(settings: Settings) -> Iterator[Measured]:
    """Processor seconds of whole processes, and the rows a second of the longer ones beyond the shortest."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_pretrained(build(MODEL).eval(), folder / "model")
        shortest: float | None = None
        for size in settings.sizes:
            command = ["-m", "inctnp", "stream", str(_table(folder, size)), "--target", "y"]
            command += ["--model", str(folder / "model"), "--out", str(folder / "out.csv")]
            variants: dict[str, Work] = {"inctnp stream": _run(command), "python alone": _run(["-c", ""])}
            timings = interleaved(variants, settings.repeats, len(variants) * settings.budget, childrens_seconds)
            spent = timings["inctnp stream"].median
            rate = {} if shortest is None else {"rows/s": (size - settings.sizes[0]) / max(spent - shortest, 1e-9)}
            shortest = spent if shortest is None else shortest
            yield from all_of("from the command to the last row", size, timings, {"inctnp stream": rate})


def _table(folder: Path, size: int) -> Path:
    path = folder / f"{size}.csv"
    x, y = points(size, seed=size, features=FEATURES)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*"abcd", "y"])
        writer.writerows([*row, outcome] for row, (outcome,) in zip(x.tolist(), y.tolist(), strict=True))
    return path


def _run(arguments: list[str]) -> Work:
    return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


SUBJECT = Subject(title="The command line", ours="inctnp stream", measure=measure, sizes=(10, 300, 1000), quick=(2, 12))
