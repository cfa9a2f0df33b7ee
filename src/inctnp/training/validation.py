"""Held-out log-likelihood while a run goes on, and how far it is from the best possible."""

from dataclasses import dataclass, replace

import torch

from inctnp.generators.base import TaskGenerator
from inctnp.models.base import NeuralProcess
from inctnp.task import GroundTruth, Task

JOINT_BATCHES, JOINT_TASKS = 2, 4
"""Batches, and tasks of each, whose joint density is scored: a model without a cache encodes its context again for
every target, so more would cost such a model more than the training between two validations."""


@dataclass(frozen=True)
class Score:
    """Mean log-likelihood per target; gaps are to the exact posterior on the same tasks, where it is known."""

    log_likelihood: float
    gap: float | None
    joint_gap: float | None = None
    """Per target as well, over a few tasks."""


class Validator:
    """A fixed set of tasks, drawn once, with the optimum of each worked out once."""

    def __init__(self, source: TaskGenerator, batches: int) -> None:
        self.tasks: list[Task] = [source.batch(i) for i in range(batches)]
        self.optimum: float | None = None
        self.joint: list[tuple[Task, float]] = []
        """Tasks, and the exact joint log-density of their targets per target."""
        if all(task.truth is not None for task in self.tasks):
            exact = [task.truth.factorised_log_prob(task).mean() for task in self.tasks if task.truth is not None]
            self.optimum = torch.stack(exact).mean().item()
            for task in self.tasks[:JOINT_BATCHES]:
                assert task.truth is not None
                self.joint.append((_first(task, JOINT_TASKS), _exact_joint(task, task.truth)))

    @torch.no_grad()
    def score(self, model: NeuralProcess) -> Score:
        """In the model's own precision, whatever it trains in."""
        values = [log_likelihood(model, task) for task in self.tasks]
        mean = torch.stack(values).mean().item()
        return Score(mean, None if self.optimum is None else self.optimum - mean, self._joint_gap(model))

    def _joint_gap(self, model: NeuralProcess) -> float | None:
        if not self.joint:
            return None
        gaps = []
        for task, exact in self.joint:
            context = model.extend(model.empty(task.batch), task.xc, task.yc)
            ours = model.joint_log_prob(context, task.xt, task.yt).double().mean().item()
            gaps.append(exact - ours / task.xt.shape[-2])
        return sum(gaps) / len(gaps)


def log_likelihood(model: NeuralProcess, task: Task) -> torch.Tensor:
    """Mean log-density of a task's targets, each on its own, in float64."""
    context = model.extend(model.empty(task.batch), task.xc, task.yc)
    return model.query(context, task.xt).log_prob(task.yt).double().mean()


def _first(task: Task, count: int) -> Task:
    return replace(task.map(lambda tensor: tensor[:count]), truth=None)


def _exact_joint(task: Task, truth: GroundTruth) -> float:
    values = truth.joint_log_prob(task)[:JOINT_TASKS]
    return values.mean().item() / task.xt.shape[-2]
