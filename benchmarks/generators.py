"""How fast tasks are made: `python -m benchmarks.generators [--json]`.

One thread, a warm-up, then batches 0, 1, 2, ... of each source, so sizes vary as they do in training. A line gives the
median time of a batch with its quartiles, and tasks and rows (context and targets) per second over all timed batches.
"""

import json
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated

import torch
import typer

from inctnp.errors import MissingDataError
from inctnp.generators.base import TaskGenerator
from inctnp.generators.gp import GPTasks
from inctnp.generators.kernels import MIXED
from inctnp.generators.real_tables import RECIPES, StaticTasks, load_table
from inctnp.generators.shift import ShiftTasks
from inctnp.generators.station_files import STATION_FILES
from inctnp.generators.stations import station_tasks
from inctnp.generators.tabular_prior import TabularPrior


@dataclass(frozen=True, kw_only=True)
class Throughput:
    """What one source costs."""

    source: str
    batch_size: int
    median_ms: float
    """Of one batch."""
    quartiles_ms: tuple[float, float]
    tasks_per_second: float
    rows_per_second: float
    batches: int


def sources() -> dict[str, Callable[[], TaskGenerator]]:
    """Every source at the size it is used with; those that read data fail only when called."""
    made: dict[str, Callable[[], TaskGenerator]] = {
        "gp rbf, N_c <= 64": GPTasks,
        "gp rbf, N_c <= 64, kernel per task": partial(GPTasks, shared_kernel=False),
        "gp mixed, N_c <= 64, kernel per task": partial(GPTasks, families=MIXED, shared_kernel=False),
        "gp mixed, N_c <= 512": partial(GPTasks, families=MIXED, context=(1, 512)),
        "shift rbf, 64 steps": ShiftTasks,
        "tabular prior": TabularPrior,
    }
    for name in RECIPES:
        made[f"table {name}, static"] = partial(_static, name)
    for name in STATION_FILES:
        made[f"stations {name}"] = partial(station_tasks, name)
    for name in ("gsod-cities", "gsod-ecad"):
        made[f"stations {name}, forecasting"] = partial(station_tasks, name, goal="forecasting")
    return made


def _static(name: str) -> StaticTasks:
    return StaticTasks(table=load_table(name))


def measure(name: str, source: TaskGenerator, seconds: float) -> Throughput:
    """Time batches for about this long, at least five of them."""
    for step in range(3):
        source.batch(step)
    times: list[float] = []
    rows = 0
    while len(times) < 5 or sum(times) < seconds:
        start = time.perf_counter()
        task = source.batch(len(times))
        times.append(time.perf_counter() - start)
        rows += source.batch_size * (task.xc.shape[-2] + task.xt.shape[-2])
    low, median, high = statistics.quantiles(times, n=4)
    return Throughput(
        source=name,
        batch_size=source.batch_size,
        median_ms=1e3 * median,
        quartiles_ms=(1e3 * low, 1e3 * high),
        tasks_per_second=source.batch_size * len(times) / sum(times),
        rows_per_second=rows / sum(times),
        batches=len(times),
    )


def line(result: Throughput) -> str:
    """One line of the table."""
    low, high = result.quartiles_ms
    return (
        f"{result.source:38} {result.batch_size:5d} {result.median_ms:9.2f} {f'{low:.2f}-{high:.2f}':>16} "
        f"{result.tasks_per_second:10.0f} {result.rows_per_second:12.0f}"
    )


def main(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line instead of a table.")] = False,
    seconds: Annotated[float, typer.Option(help="Time spent on each source.")] = 2.0,
) -> None:
    """Measure every task source whose data are here."""
    torch.set_num_threads(1)
    if not as_json:
        typer.echo(f"{platform.machine()}, torch {torch.__version__}, one thread")
        typer.echo(f"{'source':38} {'batch':>5} {'median ms':>9} {'quartiles':>16} {'tasks/s':>10} {'rows/s':>12}")
    for name, make in sources().items():
        try:
            result = measure(name, make(), seconds)
        except MissingDataError:
            typer.echo(f"{name:38} data not here", err=as_json)
            continue
        typer.echo(json.dumps(asdict(result)) if as_json else line(result))


if __name__ == "__main__":
    typer.run(main)
