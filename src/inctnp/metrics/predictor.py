"""What a metric needs of the model it measures: the contract, and nothing about what is behind it."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.notation import Inputs, Outputs
from inctnp.predictive.base import Predictive
from inctnp.task import Task


@runtime_checkable
class Predictor(Protocol):
    """Conditions on points and predicts each target on its own."""

    def empty(self, batch: int | Sequence[int] = ()) -> Any: ...

    def extend(self, context: Any, x: Inputs, y: Outputs) -> Any: ...

    def query(self, context: Any, xt: Inputs) -> Predictive: ...


@runtime_checkable
class JointPredictor(Predictor, Protocol):
    """Predicts targets together as well."""

    def conditionals(self, context: Any, xt: Inputs, yt: Outputs) -> Predictive: ...

    def joint_sample(self, context: Any, xt: Inputs, n: int, *, generator: torch.Generator | None = None) -> Any:
        """A predictive of each target on its own, which also has coherent `draws`."""
        ...


Ask = Callable[[Any, Any, Inputs], Predictive]
"""A way to ask a model about targets: from the model, a context and the inputs to a predictive of each target."""


def given_context(model: Predictor, task: Task) -> Any:
    """The model's context after everything the task shows."""
    return model.extend(model.empty(task.batch), task.xc, task.yc)


def factorised(model: Predictor, context: Any, xt: Inputs) -> Predictive:
    """Each target from the context alone.  (Eq. 1)"""
    return model.query(context, xt)


def unrolled(draws: int, generator: torch.Generator | None = None) -> Ask:
    """Each target from the mixture over autoregressive unrolls, as TNP-A is deployed."""

    def ask(model: JointPredictor, context: Any, xt: Inputs) -> Predictive:
        return model.joint_sample(context, xt, draws, generator=generator)

    return ask


def per_point(values: Float[Tensor, "*batch target dim_y"]) -> Float[Tensor, "*batch target"]:
    """Outputs are independent given the point, so their log-densities add up; float64, for gaps are differences."""
    return values.double().sum(dim=-1)
