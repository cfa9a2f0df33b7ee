"""Held-out log-likelihood while a run goes on, and how far it is from the best possible."""

from dataclasses import dataclass

import torch

from inctnp.generators.base import TaskGenerator
from inctnp.models.base import NeuralProcess
from inctnp.task import Task


@dataclass(frozen=True)
class Score:
    """Mean log-likelihood per target; `gap` is to the exact posterior on the same tasks, where it is known."""

    log_likelihood: float
    gap: float | None


class Validator:
    """A fixed set of tasks, drawn once, with the optimum of each worked out once."""

    def __init__(self, source: TaskGenerator, batches: int) -> None:
        self.tasks: list[Task] = [source.batch(i) for i in range(batches)]
        self.optimum: float | None = None
        if all(task.truth is not None for task in self.tasks):
            exact = [task.truth.factorised_log_prob(task).mean() for task in self.tasks if task.truth is not None]
            self.optimum = torch.stack(exact).mean().item()

    @torch.no_grad()
    def score(self, model: NeuralProcess) -> Score:
        values = []
        for task in self.tasks:
            context = model.extend(model.empty(task.batch), task.xc, task.yc)
            values.append(model.query(context, task.xt).log_prob(task.yt).double().mean())
        mean = torch.stack(values).mean().item()
        return Score(mean, None if self.optimum is None else self.optimum - mean)
