"""Where tasks come from: a source is a value, and batch number `step` of it can be made alone, anywhere."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from inctnp.errors import ConfigError
from inctnp.seeding import generator
from inctnp.task import Task


@dataclass(frozen=True, kw_only=True)
class TaskGenerator(ABC):
    """A reproducible, endless supply of task batches.

    >>> from inctnp.generators.gp import GPTasks
    >>> source = GPTasks(batch_size=2, context=(3, 5), targets=4)
    >>> source.batch(7).xt.shape, bool((source.batch(7).yc == source.batch(7).yc).all())
    (torch.Size([2, 4, 1]), True)
    """

    batch_size: int = 16
    """Tasks drawn together; they share the number of points."""
    seed: int = 0
    """Root of every random choice of this source."""

    def batch(self, step: int) -> Task:
        """Batch number `step`: a function of the settings, the seed and `step` alone."""
        with one_thread():
            return self.draw(generator(self.seed, type(self).__name__, step))

    @abstractmethod
    def draw(self, rng: torch.Generator) -> Task:
        """A batch made from this random stream and nothing else."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the calling thread compute alone: how a factorisation is rounded depends on how many threads share it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def draw_size(bounds: tuple[int, int], rng: torch.Generator) -> int:
    """A whole number, uniform between the bounds, both included."""
    low, high = bounds
    return int(torch.randint(low, high + 1, (), generator=rng))


def draw_size_by_ratio(bounds: tuple[int, int], rng: torch.Generator) -> int:
    """A whole number between the bounds, both included, doublings of which are equally likely."""
    low, high = (math.log(bound) for bound in (bounds[0], bounds[1] + 1))
    return min(bounds[1], int(math.exp(low + (high - low) * torch.rand((), generator=rng, dtype=torch.float64).item())))


SPREADS = {"uniform": draw_size, "log-uniform": draw_size_by_ratio}
"""How a size is drawn between its bounds."""


def check_range(name: str, bounds: tuple[int, int], least: int) -> None:
    """Refuse a range of sizes that is empty or starts below `least`."""
    if not least <= bounds[0] <= bounds[1]:
        raise ConfigError(f"{name} must be a range (low, high) with {least} <= low <= high, not {bounds}.")
