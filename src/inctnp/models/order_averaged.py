"""A model averaged over context orders: nearly invariant to the order, at K times the cost.  (App. H.4)"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError
from inctnp.models.autoregressive import JointSample
from inctnp.models.base import NeuralProcess, batch_shape
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.mixture import Mixture, mixture_over_first_axis


class OrderAveraged:
    """The equal mixture of a model given the context in K random orders, side by side as one batch.

    Points that arrive together are shuffled among themselves, for each order anew.

    >>> import inctnp
    >>> model = inctnp.build(inctnp.ModelConfig(name="inctnp", dim_x=1, layers=1))
    >>> averaged = OrderAveraged(model, orders=3, generator=torch.Generator().manual_seed(0))
    >>> context = averaged.extend(averaged.empty(), torch.randn(5, 1), torch.randn(5, 1))
    >>> averaged.query(context, torch.randn(2, 1)).means.shape
    torch.Size([3, 2, 1])
    """

    def __init__(self, model: NeuralProcess, orders: int, generator: torch.Generator | None = None) -> None:
        if orders < 1:
            raise ConfigError(f"At least one order is needed, not {orders}.")
        self.model, self.orders, self.generator = model, orders, generator

    def empty(self, batch: int | Sequence[int] = ()) -> Any:
        """A context of no points, in every order."""
        return self.model.empty((self.orders, *batch_shape(batch)))

    def extend(self, context: Any, x: Inputs, y: Outputs) -> Any:
        """The context with more points, in an order of its own for each part of the mixture."""
        x, y = self._repeat(x), self._repeat(y)
        self.model.check(context.batch, x, y)
        order = torch.rand(x.shape[:-1], generator=self.generator, device=x.device).argsort(dim=-1).unsqueeze(-1)
        return self.model.extend(context, x.gather(-2, order.expand_as(x)), y.gather(-2, order.expand_as(y)))

    def query(self, context: Any, xt: Inputs) -> Mixture:
        """The predictive of each target on its own."""
        return mixture_over_first_axis(self.model.query(context, self._repeat(xt)))

    def joint_log_prob(self, context: Any, xt: Inputs, yt: Outputs) -> Float[Tensor, "*batch"]:
        """Joint log-density under the mixture of the joint predictives."""
        each = self.model.joint_log_prob(context, self._repeat(xt), self._repeat(yt))
        return torch.logsumexp(each, dim=0) - math.log(self.orders)

    def joint_sample(
        self, context: Any, xt: Inputs, n: int, *, generator: torch.Generator | None = None
    ) -> JointSample:
        """`n` coherent draws from each part of the mixture."""
        joint = self.model.joint_sample(context, self._repeat(xt), n, generator=generator)
        return JointSample(joint.draws.flatten(0, 1), mixture_over_first_axis(joint))

    def _repeat(self, points: Tensor) -> Tensor:
        return points.expand(self.orders, *points.shape)
