"""One regression problem: what may be seen, and what is asked."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ShapeError


@runtime_checkable
class GroundTruth(Protocol):
    """The process a task was drawn from, where its exact posterior is known."""

    def factorised_log_prob(self, task: "Task") -> Float[Tensor, "*batch target"]:
        """Exact log-density of each target given the context alone."""
        ...

    def joint_log_prob(self, task: "Task") -> Float[Tensor, "*batch"]:
        """Exact log-density of all targets together, given the context."""
        ...


class Outlook(NamedTuple):
    """Exact means and standard deviations of normal outcomes, for learning from all that could have come of a task."""

    mean: Float[Tensor, "*batch target dim_y"]
    """Of each target given the context."""
    std: Float[Tensor, "*batch target dim_y"]
    step_mean: Float[Tensor, "*batch point dim_y"]
    """Of each point of context and targets given the points before it."""
    step_std: Float[Tensor, "*batch point dim_y"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """A batch of tasks of equal size: context (xc, yc), targets (xt, yt) and, if known, the truth."""

    xc: Float[Tensor, "*batch context dim_x"]
    yc: Float[Tensor, "*batch context dim_y"]
    xt: Float[Tensor, "*batch target dim_x"]
    yt: Float[Tensor, "*batch target dim_y"]
    truth: GroundTruth | None = None
    outlook: Outlook | None = None

    def __post_init__(self) -> None:
        for x, y, side in ((self.xc, self.yc, "context"), (self.xt, self.yt, "target")):
            if x.shape[:-1] != y.shape[:-1]:
                raise ShapeError(
                    f"The {side} of a task has inputs {tuple(x.shape)} and outputs {tuple(y.shape)}: "
                    "every axis but the last must agree."
                )
        for c, t, what in ((self.xc, self.xt, "inputs"), (self.yc, self.yt, "outputs")):
            if c.shape[:-2] != t.shape[:-2] or c.shape[-1] != t.shape[-1]:
                raise ShapeError(
                    f"A task has context {what} {tuple(c.shape)} and target {what} {tuple(t.shape)}: "
                    "every axis but the number of points must agree."
                )

    @property
    def batch(self) -> torch.Size:
        return self.xc.shape[:-2]

    def prefix(self, points: int) -> Self:
        """The same question asked after only the first `points` of the context."""
        return replace(self, xc=self.xc[..., :points, :], yc=self.yc[..., :points, :], outlook=None)

    def permute(self, rng: torch.Generator) -> Self:
        """The context in another order, drawn for each task of the batch on its own."""
        keys = torch.rand(self.xc.shape[:-1], generator=rng)
        order = keys.argsort(dim=-1).unsqueeze(-1)
        return replace(
            self,
            xc=self.xc.gather(-2, order.expand_as(self.xc)),
            yc=self.yc.gather(-2, order.expand_as(self.yc)),
            outlook=None,
        )

    def as_sequence(self) -> tuple[Tensor, Tensor]:
        """Context and targets one after the other, as dense training reads them."""
        return torch.cat([self.xc, self.xt], dim=-2), torch.cat([self.yc, self.yt], dim=-2)

    def map(self, change: Callable[[Tensor], Tensor]) -> Self:
        """The task with every tensor changed, for instance by `torch.Tensor.double`."""
        outlook = self.outlook and Outlook(*map(change, self.outlook))
        xc, yc, xt, yt = map(change, (self.xc, self.yc, self.xt, self.yt))
        return replace(self, xc=xc, yc=yc, xt=xt, yt=yt, outlook=outlook)
