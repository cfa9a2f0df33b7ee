"""Test log-likelihood over random orders of the context: its distribution, and its mean when orders are averaged."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from inctnp.errors import ConfigError
from inctnp.metrics.orders import random_orders, rearrange
from inctnp.metrics.predictor import Predictor, given_context, per_point
from inctnp.metrics.score import Score, mean_over_tasks
from inctnp.predictive.mixture import mixture_of
from inctnp.task import Task


@dataclass(frozen=True, eq=False)
class PermutationDistribution:
    """Log-likelihood per target of every task under each of several orders of its context."""

    per_task: Float[Tensor, "order task"]

    def test_set(self) -> Float[Tensor, " order"]:
        """The mean over the test set, each order of which is a permutation of all its contexts."""
        return self.per_task.mean(dim=-1)

    def resampled(self, count: int, generator: torch.Generator) -> Float[Tensor, " resample"]:
        """Means over the test set, an order drawn for each task from those tried: more permutations, no pass."""
        orders, tasks = self.per_task.shape
        every = torch.arange(tasks)
        chosen = (torch.randint(orders, (tasks,), generator=generator) for _ in range(count))
        return torch.stack([self.per_task[order, every].mean() for order in chosen])

    def quantiles(self, levels: Sequence[float] = (0.25, 0.5, 0.75)) -> tuple[float, ...]:
        """Of the means over the test set."""
        return tuple(self.test_set().quantile(torch.tensor(levels, dtype=torch.float64)).tolist())

    @property
    def mean(self) -> float:
        return self.per_task.mean().item()

    @property
    def stddev(self) -> float:
        """Of the mean over the test set, from one permutation of it to another."""
        return self.test_set().std().item()

    @property
    def stddev_of_a_task(self) -> Score:
        """Of the log-likelihood of one task, from one order of its context to another."""
        return mean_over_tasks(self.per_task.std(dim=0))


@dataclass(frozen=True)
class AveragedScore:
    """Mean log-likelihood of predictions averaged over so many context orders."""

    orders: int
    score: Score
    gain: Score
    """What averaging adds to the first of these orders alone, task by task."""


def in_context_order(task: Task, order: Int[Tensor, "*batch point"]) -> Task:
    """The task with its context in this order."""
    return replace(task, xc=rearrange(task.xc, order), yc=rearrange(task.yc, order))


@torch.no_grad()
def permutation_distribution(
    model: Predictor, tasks: Iterable[Task], permutations: int, generator: torch.Generator
) -> PermutationDistribution:
    """Ask for the targets of every task after so many random orders of its context."""
    if permutations < 1:
        raise ConfigError(f"At least one permutation is needed, not {permutations}.")
    columns: list[Tensor] = []
    for task in tasks:
        orders = random_orders(permutations, task.xc.shape[:-1], generator)
        columns.append(torch.stack([_score(model, in_context_order(task, order)).flatten() for order in orders]))
    return PermutationDistribution(torch.cat(columns, dim=-1))


@torch.no_grad()
def order_averaged_log_likelihood(
    model: Predictor, tasks: Iterable[Task], orders: Sequence[int], generator: torch.Generator
) -> tuple[AveragedScore, ...]:
    """Log-likelihood of the mixture over K context orders, for each K.  (Appendix H.4)

    The orders of a smaller K are the first of a larger, so that differences are not drawn anew.
    """
    if not orders or min(orders) < 1:
        raise ConfigError(f"orders must name at least one positive number, not {tuple(orders)}.")
    rows: list[Tensor] = []
    for task in tasks:
        drawn = random_orders(max(orders), task.xc.shape[:-1], generator)
        permuted = (in_context_order(task, order) for order in drawn)
        each = [model.query(given_context(model, one), task.xt) for one in permuted]
        sizes = (1, *orders)
        scores = [per_point(mixture_of(each[:k]).log_prob(task.yt)).mean(dim=-1).flatten() for k in sizes]
        rows.append(torch.stack(scores))
    alone, *averaged = torch.cat(rows, dim=-1)
    pairs = zip(orders, averaged, strict=True)
    return tuple(AveragedScore(k, mean_over_tasks(ll), mean_over_tasks(ll - alone)) for k, ll in pairs)


def _score(model: Predictor, task: Task) -> Tensor:
    return per_point(model.query(given_context(model, task), task.xt).log_prob(task.yt)).mean(dim=-1)
