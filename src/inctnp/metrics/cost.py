"""What a model costs as its context grows: work and bytes counted, seconds measured, exponents fitted.  (Tab. 4-7)

Counting is exact on any machine. Attention is counted through plain products, for fused kernels report nothing, and
only matrix products count.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from inctnp.errors import ConfigError
from inctnp.metrics.live_memory import Attention, fused, peak_bytes, plain
from inctnp.metrics.predictor import JointPredictor
from inctnp.seeding import generator
from inctnp.task import Task

Work = Callable[[], object]


@dataclass(frozen=True)
class CostSettings:
    """What a step of a stream asks for; the inputs are random, for values do not change the work."""

    targets: int = 250
    draws: int = 50
    """Autoregressive unrolls followed side by side."""
    dim_x: int = 1
    dim_y: int = 1
    dtype: torch.dtype = torch.float32
    repeats: int = 5
    """Measurements of time, after one that is thrown away; the median counts."""


@runtime_checkable
class HoldsBytes(Protocol):
    """A context that says how much it keeps alive."""

    @property
    def nbytes(self) -> int: ...


@dataclass(frozen=True)
class Prepared:
    """A model, a context of some length that has answered once, and what to ask next."""

    model: JointPredictor
    context: Any
    x: Tensor
    y: Tensor
    xt: Tensor
    draws: int

    def ask_one(self) -> object:
        return self.model.query(self.context, self.xt[:1])

    def extend_and_ask_one(self) -> object:
        """The context that has the new point *and* can answer, for some models only encode it when asked."""
        return self.model.query(self.model.extend(self.context, self.x, self.y), self.xt[:1])

    def query(self) -> object:
        return self.model.query(self.context, self.xt)

    def autoregressive(self) -> object:
        return self.model.joint_sample(self.context, self.xt, self.draws, generator=generator(0, "cost"))


@dataclass(frozen=True)
class Step:
    """One step of a stream at one length of the context."""

    points: int
    flops: int
    seconds: float


@dataclass(frozen=True)
class CostCurve:
    """A cost at growing lengths of the context."""

    name: str
    steps: tuple[Step, ...]

    @property
    def points(self) -> tuple[int, ...]:
        return tuple(step.points for step in self.steps)

    @property
    def flops(self) -> tuple[int, ...]:
        return tuple(step.flops for step in self.steps)

    @property
    def seconds(self) -> tuple[float, ...]:
        return tuple(step.seconds for step in self.steps)


@dataclass(frozen=True)
class Memory:
    """Bytes at one length of the context."""

    points: int
    weights: int
    context: int
    """What the context keeps alive between steps."""
    transient: int
    """The most that an update or a question holds on top of it."""

    @property
    def persistent(self) -> int:
        return self.weights + self.context

    @property
    def total(self) -> int:
        return self.persistent + self.transient


def count_flops(work: Work) -> int:
    """Multiplications and additions of all matrix products.

    >>> count_flops(lambda: torch.ones(2, 3) @ torch.ones(3, 5))
    60
    """
    with plain(), FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def measure_seconds(work: Work, repeats: int) -> float:
    """The median of several runs, after one to warm up."""
    work()
    durations: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        durations.append(time.perf_counter() - start)
    return median(durations)


@torch.no_grad()
def prepare(model: JointPredictor, points: int, settings: CostSettings) -> Prepared:
    """A context of `points` random points, already asked once."""
    rng = generator(0, "cost", points)

    def random(rows: int, features: int) -> Tensor:
        return torch.rand(rows, features, generator=rng).to(settings.dtype)

    context = model.extend(model.empty(), random(points, settings.dim_x), random(points, settings.dim_y))
    new, target = random(1, settings.dim_x), random(max(1, settings.targets), settings.dim_x)
    ready = Prepared(model, context, new, random(1, settings.dim_y), target, settings.draws)
    ready.ask_one()
    return ready


@torch.no_grad()
def update_cost(model: JointPredictor, points: Sequence[int], settings: CostSettings) -> CostCurve:
    """One more point until the context can answer again, the answer itself taken off."""
    steps: list[Step] = []
    for count in points:
        ready = prepare(model, count, settings)
        flops = count_flops(ready.extend_and_ask_one) - count_flops(ready.ask_one)
        both = measure_seconds(ready.extend_and_ask_one, settings.repeats)
        asked = measure_seconds(ready.ask_one, settings.repeats)
        steps.append(Step(count, flops, max(both - asked, 0.0)))
    return CostCurve("update", tuple(steps))


@torch.no_grad()
def query_cost(model: JointPredictor, points: Sequence[int], settings: CostSettings) -> CostCurve:
    """All targets, each on its own, from a context that is ready."""
    return CostCurve("query", _steps(model, points, settings, lambda ready: ready.query))


@torch.no_grad()
def autoregressive_cost(model: JointPredictor, points: Sequence[int], settings: CostSettings) -> CostCurve:
    """All targets one after the other, for every draw."""
    return CostCurve("autoregressive", _steps(model, points, settings, lambda ready: ready.autoregressive))


def training_flops(objective: Callable[[Task], Tensor], task: Task) -> int:
    """Forward and backward pass of one batch."""

    def step() -> None:
        objective(task).backward()

    return count_flops(step)


@torch.no_grad()
def memory_cost(
    model: JointPredictor,
    points: Sequence[int],
    settings: CostSettings,
    attention: Attention = fused,
    question: Callable[[Prepared], Work] = lambda ready: ready.query,
) -> tuple[Memory, ...]:
    """What is kept and what is needed for a moment, at each length of the context.  (Tab. 7)

    `question` chooses between `Prepared.query` and `Prepared.autoregressive`.
    """
    rows: list[Memory] = []
    for count in points:
        ready = prepare(model, count, settings)
        kept = int(ready.context.nbytes)
        transient = max(peak_bytes(work, attention) for work in (ready.extend_and_ask_one, question(ready)))
        rows.append(Memory(count, _weight_bytes(model), kept, transient))
    return tuple(rows)


def fitted_exponent(points: Sequence[int], values: Sequence[float]) -> float:
    """p of the power law c · N^p that fits best on a log-log scale.

    >>> round(fitted_exponent([10, 20, 40], [300.0, 1200.0, 4800.0]), 6)
    2.0
    """
    if len(points) != len(values) or len(points) < 2 or min(points) < 1 or min(values) <= 0:
        raise ConfigError("A power law is fitted to at least two lengths of 1 or more, each with a positive value.")
    x, y = [math.log(n) for n in points], [math.log(value) for value in values]
    centre_x, centre_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - centre_x) * (b - centre_y) for a, b in zip(x, y, strict=True))
    return covariance / sum((a - centre_x) ** 2 for a in x)


def growth_exponent(points: Sequence[int], values: Sequence[float]) -> float:
    """p of a + c · N^p, blind to the fixed part a that hides the growth of short contexts; 0 if nothing grows.

    One more than the exponent of the slope between neighbouring lengths.

    >>> round(growth_exponent([10, 20, 40, 80], [1010.0, 1020.0, 1040.0, 1080.0]), 6)
    1.0
    """
    if len(points) < 3 or len(points) != len(values):
        raise ConfigError("Growth is judged from at least three lengths, each with its value.")
    slopes = [(v2 - v1) / (n2 - n1) for (n1, v1), (n2, v2) in pairwise(zip(points, values, strict=True))]
    if max(slopes) <= 0:
        return 0.0
    middles = [round(1000 * math.sqrt(n1 * n2)) for n1, n2 in pairwise(points)]
    return 1 + fitted_exponent(middles, slopes)


def cumulative(points: Sequence[int], values: Sequence[float]) -> tuple[float, ...]:
    """The cost of the whole stream up to each length, steps in between read off straight lines.

    >>> cumulative([1, 3], [10.0, 30.0])
    (10.0, 60.0)
    """
    if len(points) != len(values) or not points:
        raise ConfigError("Costs are added up over at least one length, each with its value.")
    totals = [points[0] * values[0]]
    for (n1, v1), (n2, v2) in pairwise(zip(points, values, strict=True)):
        steps = n2 - n1
        totals.append(totals[-1] + steps * v1 + (v2 - v1) * (steps + 1) / 2)
    return tuple(totals)


def _steps(
    model: JointPredictor, points: Sequence[int], settings: CostSettings, choose: Callable[[Prepared], Work]
) -> tuple[Step, ...]:
    steps: list[Step] = []
    for count in points:
        work = choose(prepare(model, count, settings))
        steps.append(Step(count, count_flops(work), measure_seconds(work, settings.repeats)))
    return tuple(steps)


def _weight_bytes(model: object) -> int:
    """Of a model with weights; a process with a kernel has none worth counting."""
    parameters = getattr(model, "parameters", tuple)
    return sum(parameter.nbytes for parameter in parameters())
