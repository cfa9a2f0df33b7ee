"""The benchmarks outside the package run and compare what they say they compare."""

import subprocess
import sys
from pathlib import Path

from benchmarks import generators

from inctnp.generators.gp import GPTasks


def test_the_streaming_benchmark_is_the_command() -> None:
    here = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.streaming", "--help"], cwd=here, check=True, capture_output=True, text=True
    )
    assert "--threads" in done.stdout and "--sizes" in done.stdout


def test_every_source_of_tasks_has_a_line() -> None:
    names = " ".join(generators.sources())
    for source in ("gp rbf", "gp mixed", "shift", "tabular prior", "protein", "hadisd", "gsod-cities", "forecasting"):
        assert source in names
    result = generators.measure("gp", GPTasks(batch_size=2, context=(3, 3), targets=4), seconds=0.01)
    assert result.batches >= 5 and result.quartiles_ms[0] <= result.median_ms <= result.quartiles_ms[1]
    assert "gp" in generators.line(result)
