"""The contract every model obeys: contexts are values, predictions are distributions."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from inctnp.errors import ConfigError, DtypeError, ShapeError
from inctnp.models.autoregressive import JointSample, average_orders, sample_jointly
from inctnp.models.config import ModelConfig
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.base import Predictive, side_by_side
from inctnp.task import Task

if TYPE_CHECKING:
    from inctnp.streaming.session import Stream


@runtime_checkable
class Context(Protocol):
    """What a model knows of the points it was given: a value that nothing changes."""

    @property
    def batch(self) -> torch.Size:
        """Shape of the batch of contexts held together."""
        ...

    def __len__(self) -> int:
        """Points seen."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers kept alive."""
        ...

    def truncate(self, points: int) -> Self:
        """The context after only its first `points` points."""
        ...

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Everything needed to make it again: numbers for a header, and tensors."""
        ...


class NeuralProcess(nn.Module, ABC):
    """Maps a context and a place to ask to a predictive distribution.

    Tensors are `[*batch, points, features]`, the batch being that of the context.
    """

    config: ModelConfig
    identity: str = ""
    """The name or folder it was loaded by; empty for a model made here."""

    @abstractmethod
    def empty(self, batch: int | Sequence[int] = (), storage: str = "exact") -> Any:
        """A context of no points, for one task or a batch of them.

        Models that cache keys and values can keep them in fewer bits: `storage` is exact, bfloat16 or int8.
        """

    @abstractmethod
    def bytes_per_point(self, storage: str = "exact") -> int:
        """Bytes that one more point adds to a context."""

    @abstractmethod
    def extend(self, context: Any, x: Inputs, y: Outputs) -> Any:
        """The context with more points; the one given stays what it was."""

    @abstractmethod
    def query(self, context: Any, xt: Inputs) -> Predictive:
        """The predictive of each target on its own.  (Eq. 1)"""

    @abstractmethod
    def conditionals(self, context: Any, xt: Inputs, yt: Outputs) -> Predictive:
        """The predictive of each target given the context and the true targets before it.  (Eq. 2)"""

    @abstractmethod
    def rollout(self, context: Any, draws: int, points: int) -> Any:
        """A state from which `draws` continuations of `points` targets are followed; batch `(draws, *batch)`."""

    @abstractmethod
    def step(self, state: Any, x: Inputs, y: Outputs, xt: Inputs) -> tuple[Any, Predictive]:
        """One step of a rollout: add a point, then ask about the next."""

    @abstractmethod
    def first(self, state: Any, xt: Inputs) -> Predictive:
        """What a rollout predicts before its first step."""

    @abstractmethod
    def restore(self, header: dict[str, Any], tensors: dict[str, Tensor]) -> Any:
        """The context whose `state` this was."""

    @abstractmethod
    def objective(self, task: Task) -> Float[Tensor, ""]:
        """The loss this model is trained on: mean negative log-density per predicted output."""

    def query_then_extend(self, context: Any, x: Inputs, y: Outputs) -> tuple[Predictive, Any]:
        """What is predicted for points before their outputs are known, and the context that knows them."""
        return self.query(context, x), self.extend(context, x, y)

    def query_then_extend_each(self, contexts: Sequence[Any], x: Inputs, y: Outputs) -> tuple[Predictive, list[Any]]:
        """The same for one row of each of several contexts, which may differ in length."""
        return one_by_one(self, contexts, x, y)

    def joint_log_prob(
        self, context: Any, xt: Inputs, yt: Outputs, *, orders: int = 0, generator: torch.Generator | None = None
    ) -> Float[Tensor, "*batch"]:
        """Joint log-density of the targets, predicted one after the other.  (Eq. 2)

        In the order given, or as the mixture of so many random `orders`.
        """
        if orders:
            return average_orders(self, context, xt, yt, orders, generator)
        return self.conditionals(context, xt, yt).log_prob(yt).sum(dim=(-2, -1))

    def joint_sample(
        self,
        context: Any,
        xt: Inputs,
        n: int,
        *,
        generator: torch.Generator | None = None,
        random_order: bool = False,
    ) -> JointSample:
        """`n` coherent draws of all targets, each point conditioned on those drawn before it.  (Eq. 2)"""
        return sample_jointly(self, context, xt, n, generator, random_order)

    def stream(self, **settings: Any) -> "Stream":
        """Start a stream with this model; see `Stream` for the settings."""
        from inctnp.streaming.session import Stream

        return Stream(self, **settings)

    @property
    def dtype(self) -> torch.dtype:
        return next(self.parameters()).dtype

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def check(self, batch: torch.Size, x: Tensor, y: Tensor | None = None) -> None:
        """Refuse tensors that do not fit this model or a context of this batch shape."""
        expected = [("x", x, self.config.dim_x)] + ([("y", y, self.config.dim_y)] if y is not None else [])
        for name, tensor, size in expected:
            if tensor.ndim < 2 or tensor.shape[:-2] != batch or tensor.shape[-1] != size:
                wanted = ", ".join(map(str, (*batch, "points", size)))
                raise ShapeError(f"{name} must be [{wanted}] for this model and context, not {list(tensor.shape)}.")
            precise = name == "x" and self.config.grids and tensor.dtype == torch.float64
            if (tensor.dtype != self.dtype and not precise) or tensor.device != self.device:
                raise DtypeError(
                    f"{name} is {tensor.dtype} on {tensor.device}, but the model is {self.dtype} on {self.device}. "
                    f"Convert it with .to(model.device, model.dtype), or the model with .to()."
                )
        if y is not None and x.shape[-2] != y.shape[-2]:
            raise ShapeError(f"x has {x.shape[-2]} points and y has {y.shape[-2]}: each input needs its output.")


@runtime_checkable
class Stepping(Protocol):
    """Predicts a row and learns it."""

    def query_then_extend(self, context: Any, x: Inputs, y: Outputs) -> tuple[Predictive, Any]: ...


def one_by_one(model: Stepping, contexts: Sequence[Any], x: Inputs, y: Outputs) -> tuple[Predictive, list[Any]]:
    """One row for each context, one after the other."""
    rows = zip(contexts, x.split(1), y.split(1), strict=True)
    predictives, learned = zip(*(model.query_then_extend(context, *row) for context, *row in rows), strict=True)
    return side_by_side(predictives), list(learned)


def require_exact(name: str, storage: str) -> None:
    """Refuse narrow storage for a model that has no cache to narrow."""
    if storage != "exact":
        raise ConfigError(f"{name} keeps no keys and values, so there is nothing to store as {storage!r}: use exact.")


def batch_shape(batch: int | Sequence[int]) -> torch.Size:
    """A batch given as a number or a shape, as a shape."""
    try:
        shape = torch.Size([operator.index(size) for size in (batch if isinstance(batch, Sequence) else (batch,))])
    except TypeError:
        raise ShapeError(f"A batch is a whole number or a shape of them, not {batch!r}.") from None
    if min(shape, default=1) < 1:
        raise ShapeError(f"A batch needs at least one task or stream, not {list(shape)}; batch=() is a single one.")
    return shape


def flat(x: Tensor) -> Tensor:
    """[*batch, points, features] with the batch as one axis."""
    return x.reshape(x.shape[:-2].numel(), *x.shape[-2:])
