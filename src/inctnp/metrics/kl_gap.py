"""Implicit Bayesianness: how much a prediction rule would gain from not depending on the order.  (Eq. 5-9)

There are two estimates, and they answer different questions.

* `sampled_gap` is the gap of Eq. 9, KL[q ‖ q̂]: outcomes are drawn from the rule and *fed back* to it. It is zero for
  every exchangeable rule, an exact Gaussian process included. It takes J · S · (G + 1) dense passes a task.
* `teacher_forced_gap` is what the paper computes (appendix "Metric Implementation Details"): samples are scored along
  streams of *true* outcomes. It takes J + G dense passes a task. What a target's factor conditions on then depends on
  its place in the order even for a Bayesian, so an exact Gaussian process has a gap above zero: compare a model with
  it (`kl_gap_per_task` with the process of each batch, then `summarise`), not with zero.

The mixture over G random orders lies below the one over all n!, so both are biased upwards.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError, DataError
from inctnp.metrics.order_mixture import OrderMixture, collect
from inctnp.metrics.orders import Orders, random_orders, rearrange, restore
from inctnp.metrics.predictor import JointPredictor, given_context, per_point
from inctnp.metrics.score import Score, mean_over_tasks
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.base import Predictive
from inctnp.task import Task

PerTask = Float[Tensor, "*batch"]


@dataclass(frozen=True, kw_only=True)
class KLGapSettings:
    """How many orders and samples; the defaults are the paper's."""

    mixture_orders: int = 256
    """G: orders mixed to make the rule exchangeable."""
    evaluation_orders: int = 128
    """J: orders in which the rule itself is looked at."""
    draws: int = 32
    """S_MC: samples for each of them."""

    def __post_init__(self) -> None:
        if min(self.mixture_orders, self.evaluation_orders, self.draws) < 1:
            raise ConfigError("mixture_orders, evaluation_orders and draws must all be at least 1.")


@dataclass(frozen=True)
class OrderPlan:
    """The orders that were drawn, and how many samples each evaluation gets."""

    mixture: Orders
    evaluation: Orders
    draws: int


@dataclass(frozen=True)
class KLGap:
    """In nats per task of `targets` targets; divide by that number to compare tasks of different sizes."""

    gap: Score
    nll: Score
    """Joint negative log-likelihood of the true targets, averaged over the evaluation orders."""
    exchangeable_nll: Score
    """The same of the mixture over orders: what the rule would score if it did not depend on the order."""
    nll_gap: Score | None
    """`nll` minus that of the true process; None where it is not known."""
    exchangeable_nll_gap: Score | None
    targets: int


@dataclass(frozen=True, eq=False)
class KLGapPerTask:
    """One number for each task of a batch, in nats."""

    gap: Float[Tensor, " task"]
    nll: Float[Tensor, " task"]
    exchangeable_nll: Float[Tensor, " task"]
    least_nll: Float[Tensor, " task"]
    """Of the process the task came from; NaN where it is not known."""
    targets: int


@dataclass(frozen=True, eq=False)
class Question:
    """A model, what it has seen, and the targets whose order is at issue."""

    model: JointPredictor
    context: Any
    xt: Inputs
    yt: Outputs

    def stream(self, order: Tensor, outcomes: Outputs) -> Predictive:
        """Predict the targets one by one in an order, learning `outcomes`; told in the canonical order."""
        predicted = self.model.conditionals(self.context, rearrange(self.xt, order), rearrange(outcomes, order))
        return predicted.reshape(lambda part: restore(part, order))

    def streams(self, orders: Orders) -> OrderMixture:
        """Along the true outcomes, in each order."""
        return collect(self.stream(order, self.yt) for order in orders)


Estimate = Callable[[Question, OrderPlan, OrderMixture, OrderMixture, torch.Generator | None], PerTask]
"""From the question, the plan and the true streams of the mixture and evaluation orders to a gap per task."""


def teacher_forced_gap(
    question: Question,
    plan: OrderPlan,
    mixture: OrderMixture,
    evaluated: OrderMixture,
    generator: torch.Generator | None = None,
) -> PerTask:
    """The paper's estimate: samples from each evaluation stream, scored by it and by the mixture."""
    total = torch.zeros(question.yt.shape[:-2], dtype=torch.float64)
    for j in range(len(evaluated)):
        values = evaluated.draw(j, plan.draws, generator)
        own = collect([evaluated.order(j)]).log_prob(values)
        total += (own - mixture.log_prob(values)).mean(dim=0)
    return total / len(evaluated)


def sampled_gap(
    question: Question,
    plan: OrderPlan,
    mixture: OrderMixture,
    evaluated: OrderMixture,
    generator: torch.Generator | None = None,
) -> PerTask:
    """The gap of Eq. 9: outcomes drawn from the rule, each condition made of earlier draws."""
    total = torch.zeros(question.yt.shape[:-2], dtype=torch.float64)
    for order in plan.evaluation:
        joint = question.model.joint_sample(
            question.context, rearrange(question.xt, order), plan.draws, generator=generator
        )
        for draw in joint.draws:
            total += log_ratio(question, plan.mixture, order, restore(draw, order))
    return total / (len(plan.evaluation) * plan.draws)


def log_ratio(question: Question, mixture: Orders, order: Tensor, outcomes: Outputs) -> PerTask:
    """log q(outcomes) in one order minus log q̂ of the mixture over orders, both fed these outcomes."""
    own = per_point(question.stream(order, outcomes).log_prob(outcomes)).sum(dim=-1)
    each = [per_point(question.stream(other, outcomes).log_prob(outcomes)).sum(dim=-1) for other in mixture]
    return own - (torch.logsumexp(torch.stack(each), dim=0) - math.log(len(each)))


@torch.no_grad()
def kl_gap(
    model: JointPredictor,
    tasks: Iterable[Task],
    settings: KLGapSettings,
    generator: torch.Generator,
    estimate: Estimate = teacher_forced_gap,
) -> KLGap:
    """The KL gap and the joint likelihood of a model, averaged over tasks.  (Eq. 9)

    >>> from inctnp.baselines.exact_gp import ExactGP
    >>> from inctnp.generators.gp import GPTasks
    >>> task = GPTasks(batch_size=4, context=(5, 5), targets=3).batch(0)
    >>> best = ExactGP(kernel=task.truth.kernel, noise=task.truth.noise)
    >>> few = KLGapSettings(mixture_orders=3, evaluation_orders=2, draws=2)
    >>> result = kl_gap(best, [task], few, torch.Generator().manual_seed(0), sampled_gap)
    >>> abs(result.gap.mean) < 1e-9, abs(result.exchangeable_nll_gap.mean) < 1e-9
    (True, True)
    """
    return summarise([kl_gap_per_task(model, task, settings, generator, estimate) for task in tasks])


def summarise(batches: Sequence[KLGapPerTask]) -> KLGap:
    """Average over all tasks; the model may have been another for each batch, as the true process is."""
    if not batches:
        raise DataError("There is no gap without tasks.")
    gap, nll, exchangeable, least = (
        torch.cat(parts)
        for parts in zip(*((b.gap, b.nll, b.exchangeable_nll, b.least_nll) for b in batches), strict=True)
    )
    known = not least.isnan().any()
    return KLGap(
        mean_over_tasks(gap),
        mean_over_tasks(nll),
        mean_over_tasks(exchangeable),
        mean_over_tasks(nll - least) if known else None,
        mean_over_tasks(exchangeable - least) if known else None,
        batches[0].targets,
    )


@torch.no_grad()
def kl_gap_per_task(
    model: JointPredictor,
    task: Task,
    settings: KLGapSettings,
    generator: torch.Generator,
    estimate: Estimate = teacher_forced_gap,
) -> KLGapPerTask:
    """The same for each task of one batch."""
    points = task.xt.shape[:-1]
    plan = OrderPlan(
        random_orders(settings.mixture_orders, points, generator),
        random_orders(settings.evaluation_orders, points, generator),
        settings.draws,
    )
    question = Question(model, given_context(model, task), task.xt, task.yt)
    mixture, evaluated = question.streams(plan.mixture), question.streams(plan.evaluation)
    gap = estimate(question, plan, mixture, evaluated, generator)
    truth = task.yt.unsqueeze(0)
    nll = -evaluated.log_prob_each(truth).squeeze(1).mean(dim=0)
    best = math.nan if task.truth is None else task.truth.joint_log_prob(task)
    least = -torch.as_tensor(best, dtype=torch.float64).expand(task.batch).flatten()
    return KLGapPerTask(gap.flatten(), nll.flatten(), -mixture.log_prob(truth).flatten(), least, points[-1])
