"""What a model costs as its context grows: work and bytes counted, seconds measured.  (Tab. 4-7)

Counting is exact on any machine; `growth` says how counts grow.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from inctnp.metrics.flops import count_flops
from inctnp.metrics.live_memory import Attention, fused, peak_bytes
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
    """A model, a context of some length as a stream leaves it, and what to ask next."""

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
    """What the context keeps alive between steps, free room of its buffers included."""
    transient: int
    """The most that an update or a question holds on top of it; not the moment in which a full buffer is moved."""

    @property
    def persistent(self) -> int:
        return self.weights + self.context

    @property
    def total(self) -> int:
        return self.persistent + self.transient


def measure_seconds(work: Work, repeats: int) -> float:
    """The median of several runs, after one to warm up; on one thread those of the processor, whoever shares it."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    work()
    durations: list[float] = []
    for _ in range(repeats):
        start = clock()
        work()
        durations.append(clock() - start)
    return median(durations)


@torch.no_grad()
def prepare(model: JointPredictor, points: int, settings: CostSettings) -> Prepared:
    """A context of `points` random points, already asked once.

    The last point comes alone, as in a stream: buffers have grown then, and the next point finds room in them.
    """
    rng = generator(0, "cost", points)

    def random(rows: int, features: int) -> Tensor:
        return torch.rand(rows, features, generator=rng).to(settings.dtype)

    x, y = random(points, settings.dim_x), random(points, settings.dim_y)
    context = model.extend(model.extend(model.empty(), x[:-1], y[:-1]), x[-1:], y[-1:])
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
        asked = measure_seconds(ready.ask_one, settings.repeats)
        both = measure_seconds(_streaming(ready), settings.repeats)
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


def _streaming(ready: Prepared) -> Work:
    """Another point each time it runs: to extend one context again and again would branch it."""
    context = ready.context

    def step() -> None:
        nonlocal context
        context = ready.model.extend(context, ready.x, ready.y)
        ready.model.query(context, ready.xt[:1])

    return step


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
