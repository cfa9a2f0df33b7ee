"""Held-out tasks of every kind the paper tests on, from seeds and days that no training has used."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from inctnp.errors import MissingDataError
from inctnp.generators.base import TaskGenerator
from inctnp.generators.files import known, why_missing
from inctnp.generators.gp import GPTasks
from inctnp.generators.kernels import MIXED
from inctnp.generators.real_tables import RECIPES, StaticTasks, load_table
from inctnp.generators.station_files import station_file
from inctnp.generators.stations import station_tasks
from inctnp.generators.tabular_prior import TabularPrior
from inctnp.task import Task
from inctnp.training.plain import to_plain
from inctnp.training.recipes import TEST_SEED

COLLECTIONS = {"stations": "hadisd", "stations-cities": "gsod-cities", "stations-france": "synop-france"}
"""Settings of station models and the files they are tested on; the first is the paper's, for those who have HadISD."""
COLLECTION_NAMES = {"stations": "HadISD", "stations-cities": "cities, daily", "stations-france": "France, 6-hourly"}
PAPER_TABLES = tuple(RECIPES)


@dataclass(frozen=True, kw_only=True)
class Source:
    """Test tasks, what they are called, and which weights are meant for them."""

    data: str
    """As in the paper's tables."""
    setting: str
    """Recipe of the models that are tested on it."""
    setup: Mapping[str, Any]
    """Everything that decides the tasks, as plain values."""
    make: Callable[[], TaskGenerator]
    missing: str = ""
    most_context: int = 0
    """Longer contexts are cut to their first points; 0 leaves them."""
    most_targets: int = 0

    def batch(self, step: int) -> Task:
        """Batch number `step`, cut to size."""
        return cut(self.make().batch(step), self.most_context, self.most_targets)


def cut(task: Task, context: int, targets: int) -> Task:
    """At most so many points of each kind; 0 leaves them all."""
    shown = task.prefix(context) if context else task
    return replace(shown, xt=shown.xt[..., :targets, :], yt=shown.yt[..., :targets, :]) if targets else shown


def gp_source(longest: int = 64, mixed: bool = False, **changes: Any) -> Source:
    """1-D Gaussian processes; one kernel per task, which averages better than the one per batch of training."""
    tasks = GPTasks(
        **{"context": (1, longest), "families": MIXED if mixed else ("rbf",), "shared_kernel": False, **changes},
        seed=TEST_SEED,
    )
    family = "mixed" if mixed else "rbf"
    return Source(data="1D GP", setting=f"{family}-{longest}", setup=to_plain(tasks), make=lambda: tasks)


def tabular_source(**changes: Any) -> Source:
    """Tables from the synthetic prior."""
    tasks = TabularPrior(**{"batch_size": 16, **changes}, seed=TEST_SEED)
    return Source(data="Tabular (synthetic)", setting="tabular", setup=to_plain(tasks), make=lambda: tasks)


def table_source(name: str, most_context: int = 0, most_targets: int = 0) -> Source:
    """A UCI table asked the static way."""
    setup = {**table_setup(name), "most_context": most_context, "most_targets": most_targets}
    return Source(
        data=name.capitalize(),
        setting="tabular",
        setup=setup,
        make=lambda: StaticTasks(table=load_table(name), seed=TEST_SEED),
        missing=table_missing(name),
        most_context=most_context,
        most_targets=most_targets,
    )


def table_setup(name: str) -> dict[str, Any]:
    """What decides a UCI table."""
    return {"table": name, "sha256": known(RECIPES[name].file).sha256, "seed": TEST_SEED}


def table_missing(name: str) -> str:
    """Why a UCI table is not there; empty if it is."""
    return "" if why_missing(RECIPES[name].file) is None else f"data file {RECIPES[name].file} not found"


@dataclass(frozen=True, kw_only=True)
class StationSize:
    """How large station tasks are; the defaults are what each collection supports."""

    share: float = 1.0
    """Of the collection's windows, and of its context if none is given."""
    context: tuple[int, int] | None = None
    targets: int | None = None
    batch_size: int = 8


FULL_SIZE = StationSize()
HALF_SIZE = StationSize(share=0.5)
"""Half the windows that models are trained on, and half the context."""


def station_source(setting: str, goal: str, size: StationSize) -> Source:
    """Windows of weather stations."""
    file = station_file(COLLECTIONS[setting])
    low, high = file.context
    tasks = station_tasks(
        file.name,
        "test",
        goal=goal,
        seed=TEST_SEED,
        windows=max(2, round(size.share * file.windows)),
        context=size.context or (round(size.share * low), round(size.share * high)),
        targets=size.targets or file.targets,
        batch_size=size.batch_size,
    )
    return Source(
        data=f"Temperature ({goal}), {COLLECTION_NAMES[setting]}",
        setting=setting,
        setup=to_plain(tasks),
        make=lambda: tasks,
        missing=station_missing(setting),
    )


def station_missing(setting: str) -> str:
    """Why a collection of stations is not there; empty if it is."""
    try:
        station_file(COLLECTIONS[setting]).locate()
    except MissingDataError:
        return f"station data {COLLECTIONS[setting]} not found"
    return ""
