"""Batches of tasks made while the step before is computed."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from inctnp.task import Task
from inctnp.training.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class Share:
    """Which batches are this process's, of all that are trained on.

    >>> Share(rank=1, world=2).batches(first=10, count=3)
    [11, 13, 15]
    """

    rank: int = 0
    world: int = 1

    def batches(self, first: int, count: int) -> list[int]:
        """Numbers of the `count` batches this process takes when all before `first` are used up."""
        return [first + k * self.world + self.rank for k in range(count)]


def batches_of(recipe: Recipe, step: int, first: int, share: Share) -> list[Task]:
    """What this process learns from in a step: a function of the recipe and these numbers alone."""
    source = recipe.data_at(step)
    return [source.batch(number) for number in share.batches(first, recipe.batches_per_step)]


@contextmanager
def ahead(make: Callable[[int], Sequence[Task]], start: int, end: int) -> Iterator[Iterator[Sequence[Task]]]:
    """The results of `make` from step `start` up to, not including, `end`, each made one step ahead in a thread."""
    with ThreadPoolExecutor(1, thread_name_prefix="tasks") as pool:

        def made() -> Iterator[Sequence[Task]]:
            coming = pool.submit(make, start) if start < end else None
            for step in range(start, end):
                assert coming is not None
                tasks = coming.result()
                coming = pool.submit(make, step + 1) if step + 1 < end else None
                yield tasks

        yield made()
