"""How much predictions depend on the order of a static context: the context KL gap.  (Appendix H.1)

q is the predictive of all targets given the context as it comes, z the mixture of the predictives over context orders;
the gap is KL[q ‖ z]. It is zero for models that encode a context as a set.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError
from inctnp.metrics.order_mixture import collect
from inctnp.metrics.orders import Orders, random_orders
from inctnp.metrics.permutations import in_context_order
from inctnp.metrics.predictor import Ask, Predictor, factorised, given_context
from inctnp.metrics.score import Score, mean_over_tasks
from inctnp.task import Task

PerTask = Float[Tensor, "*batch"]


@dataclass(frozen=True, kw_only=True)
class ContextKLGapSettings:
    """How many orders and samples; the defaults are the paper's."""

    orders: int = 256
    """K: random context orders mixed to make z."""
    draws: int = 256
    """S_MC: samples of q."""

    def __post_init__(self) -> None:
        if min(self.orders, self.draws) < 1:
            raise ConfigError("orders and draws must both be at least 1.")


@dataclass(frozen=True)
class ContextKLGap:
    """In nats per task of `targets` targets."""

    gap: Score
    nll: Score
    """Negative log-likelihood of the targets, each on its own, summed."""
    invariant_nll: Score
    """The same of z, the mixture over context orders."""
    nll_gap: Score | None
    """`nll` minus that of the true process asked for each target on its own; None where it is not known."""
    invariant_nll_gap: Score | None
    targets: int


@torch.no_grad()
def context_kl_gap(
    model: Predictor,
    tasks: Iterable[Task],
    settings: ContextKLGapSettings,
    generator: torch.Generator,
    ask: Ask = factorised,
) -> ContextKLGap:
    """The context KL gap of a model, averaged over tasks.

    A model asked by `unrolled(S)` is given new unrolls for every order: its gap measures how noisy they are.
    """
    rows: list[tuple[Tensor, ...]] = []
    targets = 0
    for task in tasks:
        targets = task.xt.shape[-2]
        orders = random_orders(settings.orders, task.xc.shape[:-1], generator)
        optimum = math.nan if task.truth is None else task.truth.factorised_log_prob(task).sum(dim=-1)
        least = -torch.as_tensor(optimum, dtype=torch.float64).expand(task.batch)
        row = context_kl_gap_per_task(model, task, orders, settings.draws, generator, ask)
        rows.append(tuple(part.flatten() for part in (*row, least)))
    gap, nll, invariant, least = (torch.cat(part) for part in zip(*rows, strict=True))
    known = not least.isnan().any()
    return ContextKLGap(
        mean_over_tasks(gap),
        mean_over_tasks(nll),
        mean_over_tasks(invariant),
        mean_over_tasks(nll - least) if known else None,
        mean_over_tasks(invariant - least) if known else None,
        targets,
    )


def context_kl_gap_per_task(
    model: Predictor,
    task: Task,
    orders: Orders,
    draws: int,
    generator: torch.Generator | None = None,
    ask: Ask = factorised,
) -> tuple[PerTask, PerTask, PerTask]:
    """For each task of a batch, over these context orders: the gap, the NLL of q and the NLL of z."""
    as_it_comes = collect([ask(model, given_context(model, task), task.xt)])
    mixture = collect(ask(model, given_context(model, in_context_order(task, order)), task.xt) for order in orders)
    values = as_it_comes.draw(0, draws, generator)
    gap = (as_it_comes.log_prob(values) - mixture.log_prob(values)).mean(dim=0)
    truth = task.yt.unsqueeze(0)
    return gap, -as_it_comes.log_prob(truth).squeeze(0), -mixture.log_prob(truth).squeeze(0)
