"""How far a run has come, what is told of it, and when it has gone wrong."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from inctnp.errors import IncTNPError
from inctnp.models.base import NeuralProcess
from inctnp.task import Task

MOST_BAD_STEPS = 20
"""Losses in a row that are not finite before a run gives up."""


class DivergenceError(IncTNPError, ArithmeticError):
    """The loss stayed NaN or infinite."""


@dataclass(frozen=True)
class Report:
    """What is told of a run's progress."""

    step: int
    loss: float
    """Mean since the last report."""
    rate: float
    steps_per_second: float
    """Since the last report."""
    seconds: float
    """Spent training since the first step, restarts included."""
    log_likelihood: float | None = None
    gap: float | None = None
    skipped: int = 0
    joint_gap: float | None = None
    """Per target, as `gap`."""
    cpu_seconds: float = 0.0
    """Of processor time, over all threads of this process."""
    measured: dict[str, float] = field(default_factory=dict)
    """Results of the run's measurements, by name."""


@dataclass(frozen=True)
class Measurement:
    """Something taken of the model every so many steps and written beside its scores."""

    name: str
    every: int
    take: Callable[[NeuralProcess], float]


@dataclass
class Progress:
    """What a checkpoint remembers beside tensors."""

    step: int = 0
    seconds: float = 0.0
    skipped: int = 0
    bad_in_a_row: int = 0
    loss_sum: float = 0.0
    loss_count: int = 0
    batches: int = -1
    """Batches used up by all processes: a run that goes on with more of them sees no batch twice."""
    cpu_seconds: float = -1.0

    def __post_init__(self) -> None:
        # The first runs, one process and one thread each, kept neither.
        self.batches = self.step if self.batches < 0 else self.batches
        self.cpu_seconds = self.seconds if self.cpu_seconds < 0 else self.cpu_seconds

    def add(self, loss: float, batches: int = 1) -> None:
        """Count a step."""
        self.step, self.batches = self.step + 1, self.batches + batches
        if math.isfinite(loss):
            self.loss_sum, self.loss_count, self.bad_in_a_row = self.loss_sum + loss, self.loss_count + 1, 0
        else:
            self.skipped, self.bad_in_a_row = self.skipped + 1, self.bad_in_a_row + 1

    def take_loss(self) -> float:
        """The mean loss since the last call."""
        mean = self.loss_sum / max(1, self.loss_count)
        self.loss_sum, self.loss_count = 0.0, 0
        return mean


def require_progress(progress: Progress, model: NeuralProcess, task: Task) -> None:
    """Stop a run whose loss stays NaN or infinite, and say where that comes from."""
    if progress.bad_in_a_row < MOST_BAD_STEPS:
        return
    raise DivergenceError(
        f"The loss or its gradient was not finite for {MOST_BAD_STEPS} steps in a row, up to step {progress.step}. "
        f"{diagnosis(model, task)} No weights were changed by these steps; the last checkpoint is kept."
    )


def diagnosis(model: NeuralProcess, task: Task) -> str:
    """Where values that are not finite come from, and what helps."""
    data = {"xc": task.xc, "yc": task.yc, "xt": task.xt, "yt": task.yt}
    if bad := [name for name, tensor in data.items() if not torch.isfinite(tensor).all()]:
        return f"The data themselves are not finite ({', '.join(bad)}): look at the source of the tasks."
    if bad := [name for name, tensor in model.named_parameters() if not torch.isfinite(tensor).all()]:
        return f"Weights are not finite ({bad[0]} and {len(bad) - 1} more): start over with a lower learning rate."
    return (
        "Data and weights are finite, so the model's arithmetic overflows: lower the rate "
        "(--set optimisation.rate=..., and optimisation.muon_rate), compute in float32 "
        "(--set precision=32-true), or raise model.std_min."
    )
