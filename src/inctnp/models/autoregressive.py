"""One target after the other: joint draws and joint densities from factorised models.  (Eq. 2)"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor

from inctnp.errors import ConfigError, ShapeError
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.base import Predictive, Values
from inctnp.predictive.mixture import Mixture, mixture_over_first_axis

if TYPE_CHECKING:
    from inctnp.models.base import NeuralProcess


@dataclass(frozen=True, eq=False)
class JointSample(Predictive):
    """Coherent draws of several points, and the marginals they imply.

    Asked as a predictive it answers for each point on its own, from the mixture over the draws of the
    distributions each value was drawn from: smoother than the draws themselves.
    """

    draws: Float[Tensor, "draw *point dim_y"]
    marginals: Mixture

    @property
    def mean(self) -> Values:
        return self.marginals.mean

    @property
    def variance(self) -> Values:
        return self.marginals.variance

    @property
    def stddev(self) -> Values:
        return self.marginals.stddev

    def log_prob(self, y: Values) -> Values:
        return self.marginals.log_prob(y)

    def cdf(self, y: Values) -> Values:
        return self.marginals.cdf(y)

    def crps(self, y: Values) -> Values:
        return self.marginals.crps(y)

    def quantile(self, level: float) -> Values:
        return self.marginals.quantile(level)

    def sample(self, generator: torch.Generator | None = None) -> Values:
        """One of the draws, so that the points stay coherent."""
        return self.draws[int(torch.randint(len(self.draws), (), generator=generator))]

    def components(self) -> tuple[Values, Values, Values]:
        return self.marginals.components()

    def reshape(self, change: Callable[[Tensor], Tensor]) -> Self:
        return type(self)(torch.stack([change(draw) for draw in self.draws]), self.marginals.reshape(change))

    def affine(self, shift: Tensor | float, scale: Tensor | float) -> Self:
        return type(self)(shift + scale * self.draws, self.marginals.affine(shift, scale))


@torch.no_grad()
def sample_jointly(
    model: "NeuralProcess",
    context: Any,
    xt: Inputs,
    draws: int,
    generator: torch.Generator | None,
    random_order: bool,
) -> JointSample:
    """Follow all draws side by side; the point just drawn is added in the pass that asks about the next.

    With `random_order` every draw of every task visits the targets in an order of its own.
    """
    model.check(context.batch, xt)
    if draws < 1 or draws % 1 or xt.shape[-2] < 1:
        raise ShapeError(f"Sampling needs at least one draw and one target, not {draws} and {xt.shape[-2]}.")
    xt = xt.expand(draws, *xt.shape)
    order = _random_orders(xt, generator) if random_order else None
    visited = xt if order is None else _rearrange(xt, order)
    state = model.rollout(context, draws, visited.shape[-2])
    predictives = [model.first(state, visited[..., :1, :])]
    values = [predictives[0].sample(generator)]
    for i in range(1, visited.shape[-2]):
        state, predictive = model.step(state, visited[..., i - 1 : i, :], values[-1], visited[..., i : i + 1, :])
        predictives.append(predictive)
        values.append(predictive.sample(generator))
    parts = zip(*(predictive.components() for predictive in predictives), strict=True)
    sampled, joined = torch.cat(values, dim=-2), Mixture(*(torch.cat(part, dim=-2) for part in parts))
    if order is not None:
        back = order.argsort(dim=-1)
        sampled, joined = _rearrange(sampled, back), joined.reshape(lambda part: _rearrange(part, back))
    return JointSample(sampled, mixture_over_first_axis(joined))


def average_orders(
    model: "NeuralProcess", context: Any, xt: Inputs, yt: Outputs, orders: int, generator: torch.Generator | None
) -> Float[Tensor, "*batch"]:
    """Log-density of the mixture over random target orders: less dependent on the order than any one of them."""
    model.check(context.batch, xt, yt)
    if orders < 1:
        raise ConfigError(f"An average needs at least one order, not {orders}; 0 takes the targets in the order given.")
    densities: list[Tensor] = []
    for _ in range(orders):
        order = _random_orders(xt, generator)
        xs, ys = _rearrange(xt, order), _rearrange(yt, order)
        densities.append(model.conditionals(context, xs, ys).log_prob(ys).sum(dim=(-2, -1)))
    return torch.logsumexp(torch.stack(densities), dim=0) - math.log(orders)


def _random_orders(points: Tensor, generator: torch.Generator | None) -> Int[Tensor, "*batch target"]:
    """One order per batch element, uniform over all orders."""
    return torch.rand(points.shape[:-1], generator=generator, device=points.device).argsort(dim=-1)


def _rearrange(points: Tensor, order: Tensor) -> Tensor:
    return points.gather(-2, order.unsqueeze(-1).expand_as(points))
