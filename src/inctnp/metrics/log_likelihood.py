"""Mean test log-likelihood, and how much of the optimum it leaves.  (Eq. 10)"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import DataError
from inctnp.metrics.orders import random_orders, rearrange
from inctnp.metrics.predictor import Ask, JointPredictor, Predictor, factorised, given_context, per_point
from inctnp.metrics.score import Score, mean_over_tasks
from inctnp.task import GroundTruth, Task

PerTask = Float[Tensor, "*batch"]
Scoring = Callable[[Any, Task], PerTask]
"""From a model and a batch of tasks to a log-density per target of each task."""


@dataclass(frozen=True)
class Deployment:
    """A way to use a model, how that is scored, and what the true process scores at the same."""

    name: str
    score: Scoring
    optimum: Callable[[GroundTruth, Task], PerTask]


@dataclass(frozen=True)
class Gap:
    """How far a model is from the optimum, in nats per target; smaller is better and zero is perfect."""

    gap: Score
    """Optimum minus model, task by task: far less noisy than the difference of two means."""
    model: Score
    optimum: Score


def factorised_score(model: Predictor, task: Task, ask: Ask = factorised) -> PerTask:
    """Mean over targets of the log-density of each on its own."""
    return per_point(ask(model, given_context(model, task), task.xt).log_prob(task.yt)).mean(dim=-1)


def joint_score(model: JointPredictor, task: Task) -> PerTask:
    """Joint log-density of the targets in the order given, divided by their number.  (Eq. 2)"""
    predicted = model.conditionals(given_context(model, task), task.xt, task.yt)
    return per_point(predicted.log_prob(task.yt)).mean(dim=-1)


def _factorised_optimum(truth: GroundTruth, task: Task) -> PerTask:
    return truth.factorised_log_prob(task).mean(dim=-1)


def _joint_optimum(truth: GroundTruth, task: Task) -> PerTask:
    return truth.joint_log_prob(task) / task.xt.shape[-2]


FACTORISED = Deployment("factorised", factorised_score, _factorised_optimum)
JOINT = Deployment("joint", joint_score, _joint_optimum)
"""Targets in the order in which tasks hold them, which generators draw at random."""


def random_target_order(generator: torch.Generator) -> Deployment:
    """The joint density in an order drawn for each task: for targets that come sorted."""

    def score(model: JointPredictor, task: Task) -> PerTask:
        context = given_context(model, task)
        (order,) = random_orders(1, task.xt.shape[:-1], generator)
        xt, yt = rearrange(task.xt, order), rearrange(task.yt, order)
        return per_point(model.conditionals(context, xt, yt).log_prob(yt)).mean(dim=-1)

    return Deployment("joint, random target order", score, _joint_optimum)


def averaged_over_unrolls(ask: Ask) -> Deployment:
    """Each target from the mixture over autoregressive unrolls; `ask` says how many."""
    return Deployment("unrolled", lambda model, task: factorised_score(model, task, ask), _factorised_optimum)


@torch.no_grad()
def scores_per_task(model: Predictor, tasks: Iterable[Task], deployment: Deployment) -> Float[Tensor, " task"]:
    """Log-likelihood per target of every task, one after the other."""
    return torch.cat([deployment.score(model, task).flatten() for task in tasks])


def log_likelihood(model: Predictor, tasks: Iterable[Task], deployment: Deployment = FACTORISED) -> Score:
    """Mean log-likelihood per target with its standard error over tasks.  (Eq. 10)

    >>> from inctnp.baselines.exact_gp import ExactGP
    >>> from inctnp.generators.gp import GPTasks
    >>> task = GPTasks(batch_size=4, context=(5, 5), targets=3).batch(0)
    >>> best = ExactGP(kernel=task.truth.kernel, noise=task.truth.noise)
    >>> log_likelihood(best, [task]).tasks, abs(gap_to_optimum(best, [task]).gap.mean) < 1e-9
    (4, True)
    """
    return mean_over_tasks(scores_per_task(model, tasks, deployment))


def gap_to_optimum(model: Predictor, tasks: Iterable[Task], deployment: Deployment = FACTORISED) -> Gap:
    """The same question put to the model and to the process the tasks came from."""
    ours, best = [], []
    for task in tasks:
        ours.append(scores_per_task(model, [task], deployment))
        best.append(deployment.optimum(_truth(task), task).double().flatten())
    model_scores, optimum = torch.cat(ours), torch.cat(best)
    return Gap(mean_over_tasks(optimum - model_scores), mean_over_tasks(model_scores), mean_over_tasks(optimum))


def _truth(task: Task) -> GroundTruth:
    if task.truth is None:
        raise DataError("These tasks do not know the process they came from, so there is no optimum to compare with.")
    return task.truth
