"""How much the joint density of targets depends on the order in which they are predicted."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from inctnp.errors import ConfigError
from inctnp.metrics.kl_gap import Question
from inctnp.metrics.orders import random_orders
from inctnp.metrics.predictor import JointPredictor, given_context, per_point
from inctnp.metrics.score import Score, mean_over_tasks
from inctnp.task import Task


@dataclass(frozen=True)
class TargetOrderSensitivity:
    """Joint log-likelihood per target over random target orders."""

    stddev: Score
    """From one order of a task's targets to another, averaged over tasks."""
    mean: Score
    orders: int


@torch.no_grad()
def target_order_sensitivity(
    model: JointPredictor, tasks: Iterable[Task], orders: int, generator: torch.Generator
) -> TargetOrderSensitivity:
    """Score the targets of every task in so many random orders, one dense pass each."""
    if orders < 2:
        raise ConfigError(f"A standard deviation over orders needs at least 2 of them, not {orders}.")
    columns: list[Tensor] = []
    for task in tasks:
        question = Question(model, given_context(model, task), task.xt, task.yt)
        drawn = random_orders(orders, task.xt.shape[:-1], generator)
        scores = [per_point(question.stream(order, task.yt).log_prob(task.yt)).mean(dim=-1) for order in drawn]
        columns.append(torch.stack([score.flatten() for score in scores]))
    every = torch.cat(columns, dim=-1)
    return TargetOrderSensitivity(mean_over_tasks(every.std(dim=0)), mean_over_tasks(every.mean(dim=0)), orders)
