"""A batch is a function of settings, seed and number, wherever and however it is made."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

import pytest
import torch

from inctnp.errors import ConfigError, DataError
from inctnp.generators.base import TaskGenerator, check_range, draw_size
from inctnp.generators.gp import GPTasks
from inctnp.generators.kernels import MIXED
from inctnp.generators.real_tables import StaticTasks
from inctnp.generators.shift import ShiftTasks
from inctnp.generators.station_files import StationFile
from inctnp.generators.stations import StationTasks
from inctnp.generators.tables import Table, TableTasks
from inctnp.generators.tabular_prior import TabularPrior
from inctnp.task import Task

RNG = torch.Generator().manual_seed(0)
TABLE = Table(
    name="toy", x=torch.randn(90, 3, generator=RNG), y=torch.randn(90, 1, generator=RNG), features=("a", "b", "c")
)
SOURCES: dict[str, TaskGenerator] = {
    "gp": GPTasks(context=(60, 90)),
    "mixed gp": GPTasks(context=(60, 90), families=MIXED, shared_kernel=False),
    "shift": ShiftTasks(batch_size=4),
    "tabular prior": TabularPrior(batch_size=12, context=(40, 300)),
    "table": TableTasks(batch_size=3, table=TABLE, context=(20, 40), targets=10),
    "static table": StaticTasks(table=TABLE),
}
STEPS = (5, 0, 3)


@pytest.fixture(params=[*SOURCES, "stations"])
def source(request: pytest.FixtureRequest) -> TaskGenerator:
    if request.param == "stations":
        file: StationFile = request.getfixturevalue("network")
        return StationTasks(file=file, windows=4, context=(5, 12), targets=6, batch_size=8)
    return SOURCES[request.param]


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def same(ours: Task, theirs: Task) -> bool:
    return all(torch.equal(getattr(ours, part), getattr(theirs, part)) for part in ("xc", "yc", "xt", "yt"))


def test_the_number_of_threads_changes_no_bit(source: TaskGenerator, threads: Callable[[int], None]) -> None:
    alone = [source.batch(step) for step in STEPS]
    threads(2)
    shared = [source.batch(step) for step in STEPS]
    assert torch.get_num_threads() == 2
    assert all(map(same, alone, shared))


def test_a_factorisation_on_two_threads_would_be_rounded_otherwise(threads: Callable[[int], None]) -> None:
    """If this ever fails, `one_thread` has nothing left to do."""
    x = torch.rand(16, 192, 1, generator=torch.Generator().manual_seed(0))
    covariance = torch.exp(-((x - x.mT) ** 2)) + 0.01 * torch.eye(192)
    roots = []
    for count in (1, 2):
        threads(count)
        roots.append(torch.linalg.cholesky(covariance))
    assert not torch.equal(*roots)


@pytest.mark.parametrize("pool", ["three threads", "another process"])
def test_any_number_of_workers_makes_the_same_batches_in_any_order(pool: str) -> None:
    workers: Executor = ThreadPoolExecutor(3)
    if pool == "another process":
        workers = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    with workers:
        coming = [
            (source.batch(step), workers.submit(source.batch, step))
            for source in SOURCES.values()
            for step in reversed(STEPS)
        ]
        assert all(same(here, there.result()) for here, there in coming)


def test_seed_and_step_both_matter(source: TaskGenerator) -> None:
    batches = [replace(source, seed=seed).batch(step) for seed in (0, 1) for step in (0, 1)]
    assert not any(same(a, b) for i, a in enumerate(batches) for b in batches[:i])


@dataclass(frozen=True, kw_only=True)
class Failing(TaskGenerator):
    def draw(self, rng: torch.Generator) -> Task:
        raise DataError(f"on {torch.get_num_threads()} thread")


def test_a_draw_that_fails_gives_the_threads_back(threads: Callable[[int], None]) -> None:
    threads(2)
    with pytest.raises(DataError, match="on 1 thread"):
        Failing().batch(0)
    assert torch.get_num_threads() == 2


def test_sizes_take_every_value_between_their_bounds_and_none_outside() -> None:
    rng = torch.Generator().manual_seed(0)
    assert {draw_size((2, 5), rng) for _ in range(200)} == {2, 3, 4, 5}
    for bounds in ((0, 5), (6, 5)):
        with pytest.raises(ConfigError, match="context must be a range"):
            check_range("context", bounds, least=1)
