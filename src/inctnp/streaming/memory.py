"""What a stream keeps when it must not grow for ever.

Keys of a point depend on the points before it, so a point cannot be cut out of a cache. A bounded memory therefore
builds its next, smaller context row by row while the current one fills up, and changes over when that is full: no row
waits for a re-encoding, and every prediction equals that of a model given exactly the rows then held.

Memories are values: `observe` answers a new one, so a fork is another name for the same memory.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from inctnp.errors import ConfigError, RollbackError
from inctnp.fused.backend import Backend
from inctnp.predictive.base import Predictive
from inctnp.seeding import generator

Saved = tuple[dict[str, Any], dict[str, Tensor]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Memory(ABC):
    """The rows a stream still knows, as a context to predict from."""

    policy: ClassVar[str]
    context: Any
    seen: int = 0
    """Rows observed so far, kept or not."""

    @abstractmethod
    def observe(self, model: Backend, x: Tensor, y: Tensor) -> Self:
        """The memory after some more rows."""

    @abstractmethod
    def step(self, model: Backend, x: Tensor, y: Tensor) -> tuple[Predictive, Self]:
        """What is predicted for one row, and the memory after learning it."""

    @abstractmethod
    def rollback(self, to: int) -> Self:
        """The memory as it was after `to` rows, or `RollbackError`."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What `start` was given."""

    def held(self) -> dict[str, Any]:
        """Contexts by name."""
        return {"context": self.context}

    def rows(self) -> dict[str, Tensor]:
        """Raw rows kept, if any."""
        return {}

    def numbers(self) -> dict[str, int]:
        """Counters needed to go on."""
        return {"seen": self.seen}

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers kept alive."""
        contexts = sum(context.nbytes for context in self.held().values() if context is not None)
        return contexts + sum(row.nbytes for row in self.rows().values())


@dataclass(frozen=True, kw_only=True, eq=False)
class KeepAll(Memory):
    """Everything, for ever: exact, and a row costs time and bytes in proportion to what came before."""

    policy = "all"

    def observe(self, model: Backend, x: Tensor, y: Tensor) -> Self:
        return replace(self, context=model.extend(self.context, x, y), seen=self.seen + x.shape[-2])

    def step(self, model: Backend, x: Tensor, y: Tensor) -> tuple[Predictive, Self]:
        predictive, context = model.query_then_extend(self.context, x, y)
        return predictive, replace(self, context=context, seen=self.seen + 1)

    def rollback(self, to: int) -> Self:
        return replace(self, context=self.context.truncate(to), seen=to)

    def settings(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True, kw_only=True, eq=False)
class Window(Memory):
    """The first `anchor` rows and the newest ones, `max_points` at most and never less than half the window.

    Exact for the rows held. In the steady state a row is encoded twice: into the context in use and into the next.
    """

    policy = "window"
    max_points: int
    anchor: int = 0
    first: Any
    """A context of the first `anchor` rows, from which every next context starts."""
    upcoming: Any = None
    since: int = 0
    """Rows observed since the last change-over."""
    changed: bool = False
    """Whether there was one."""

    def observe(self, model: Backend, x: Tensor, y: Tensor) -> Self:
        memory, start = self, 0
        while start < x.shape[-2]:
            memory = memory._changed_over()
            end = start + memory._room()
            memory = memory._take(model, x[..., start:end, :], y[..., start:end, :])
            start = end
        return memory

    def step(self, model: Backend, x: Tensor, y: Tensor) -> tuple[Predictive, Self]:
        return model.query(self.context, x), self.observe(model, x, y)

    def rollback(self, to: int) -> Self:
        dropped = self.seen - to
        # The row that brought the change-over cannot be undone either: before it, the older rows were still held.
        if self.changed and dropped >= self.since:
            raise RollbackError(
                f"Row {to} lies before row {self.seen - self.since}, when the window of {self.max_points} points let "
                "older rows go. Use a larger max_points, or keep_rows=True."
            )
        context = self.context.truncate(len(self.context) - dropped)
        upcoming = None
        if self.upcoming is not None and (self.changed or len(context) >= self._start):
            upcoming = self.upcoming.truncate(len(self.upcoming) - dropped)
        return replace(
            self,
            context=context,
            upcoming=upcoming,
            first=self.first.truncate(min(len(self.first), to)),
            seen=to,
            since=max(0, self.since - dropped),
        )

    def settings(self) -> dict[str, Any]:
        return {"max_points": self.max_points, "anchor": self.anchor}

    def held(self) -> dict[str, Any]:
        return {"context": self.context, "upcoming": self.upcoming, "first": self.first}

    def numbers(self) -> dict[str, int]:
        return {"seen": self.seen, "since": self.since, "changed": self.changed}

    @property
    def _start(self) -> int:
        """Length of the context at which the next one is begun, and at which it takes over."""
        return self.anchor + (self.max_points - self.anchor) // 2

    def _room(self) -> int:
        """Rows until something other than appending has to happen."""
        if len(self.first) < self.anchor:
            return self.anchor - len(self.first)
        edge = self.max_points if self.upcoming is not None else self._start
        return edge - len(self.context)

    def _changed_over(self) -> Self:
        if len(self.context) < self.max_points:
            return self
        return replace(self, context=self.upcoming, upcoming=self.first, since=0, changed=True)

    def _take(self, model: Backend, x: Tensor, y: Tensor) -> Self:
        context, count = model.extend(self.context, x, y), x.shape[-2]
        first = model.extend(self.first, x, y) if len(self.first) < self.anchor else self.first
        upcoming = self.upcoming
        if upcoming is not None:
            upcoming = model.extend(upcoming, x, y)
        elif len(context) == self._start:
            upcoming = first
        return replace(
            self, context=context, first=first, upcoming=upcoming, seen=self.seen + count, since=self.since + count
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Reservoir(Memory):
    """A uniform sample of everything seen: at least `max_points` / 2 rows, and `max_points` at most.

    A row that leaves the sample stays in the context until the next change-over; predictions are exact for the rows
    in the context, in the order they were taken in. Whether row t is taken is a function of (seed, t) alone.
    """

    policy = "reservoir"
    max_points: int
    seed: int = 0
    x: Tensor
    """Inputs of the rows in the sample, kept to build the next context."""
    y: Tensor
    upcoming: Any = None
    pending_x: Tensor
    """Rows the next context still has to take in."""
    pending_y: Tensor
    empty: Any

    def observe(self, model: Backend, x: Tensor, y: Tensor) -> Self:
        memory, size = self, self.max_points // 2
        fill = min(x.shape[-2], max(0, size - self.seen))
        if fill:
            memory = memory._fill(model, x[..., :fill, :], y[..., :fill, :])
        for i in range(fill, x.shape[-2]):
            slot = int(torch.randint(memory.seen + 1, (), generator=generator(self.seed, memory.seen)))
            if slot < size:
                memory = memory._replace(model, slot, x[..., i : i + 1, :], y[..., i : i + 1, :])
            memory = replace(memory, seen=memory.seen + 1)
        return memory

    def step(self, model: Backend, x: Tensor, y: Tensor) -> tuple[Predictive, Self]:
        return model.query(self.context, x), self.observe(model, x, y)

    def rollback(self, to: int) -> Self:
        if to < self.seen and self.seen > self.max_points // 2:
            raise RollbackError(
                f"A reservoir cannot go back from row {self.seen} to {to}: rows it let go would have to return. "
                "Use the window policy, or keep_rows=True."
            )
        return replace(self, context=self.context.truncate(to), x=self.x[..., :to, :], y=self.y[..., :to, :], seen=to)

    def settings(self) -> dict[str, Any]:
        return {"max_points": self.max_points, "seed": self.seed}

    def held(self) -> dict[str, Any]:
        return {"context": self.context, "upcoming": self.upcoming, "empty": self.empty}

    def rows(self) -> dict[str, Tensor]:
        return {"x": self.x, "y": self.y, "pending_x": self.pending_x, "pending_y": self.pending_y}

    def _fill(self, model: Backend, x: Tensor, y: Tensor) -> Self:
        return replace(
            self,
            context=model.extend(self.context, x, y),
            x=torch.cat([self.x, x], dim=-2),
            y=torch.cat([self.y, y], dim=-2),
            seen=self.seen + x.shape[-2],
        )

    def _replace(self, model: Backend, slot: int, x: Tensor, y: Tensor) -> Self:
        kept_x, kept_y = self.x.clone(), self.y.clone()
        kept_x[..., slot : slot + 1, :], kept_y[..., slot : slot + 1, :] = x, y
        memory = replace(self, x=kept_x, y=kept_y)
        if len(self.context) == self.max_points:
            memory = replace(memory, context=self.upcoming, upcoming=None)
        memory = replace(memory, context=model.extend(memory.context, x, y))
        if memory.upcoming is None:
            if len(memory.context) < memory._start:
                return memory
            return replace(memory, upcoming=memory.empty, pending_x=kept_x, pending_y=kept_y)._catch_up(model)
        pending_x, pending_y = torch.cat([memory.pending_x, x], dim=-2), torch.cat([memory.pending_y, y], dim=-2)
        return replace(memory, pending_x=pending_x, pending_y=pending_y)._catch_up(model)

    @property
    def _start(self) -> int:
        """Length at which the next context is begun: a quarter of the room is left to build it in."""
        return self.max_points - self.max_points // 4

    def _catch_up(self, model: Backend) -> Self:
        """Take in so many waiting rows that none is left when the context is full."""
        left = self.max_points - len(self.context)
        waiting = self.pending_x.shape[-2]
        count = waiting if left == 0 else -(-(waiting + left) // (left + 1))
        return replace(
            self,
            upcoming=model.extend(self.upcoming, self.pending_x[..., :count, :], self.pending_y[..., :count, :]),
            pending_x=self.pending_x[..., count:, :],
            pending_y=self.pending_y[..., count:, :],
        )


def start(policy: str, empty: Any, like: Tensor, **settings: Any) -> Memory:
    """A memory of no rows; `like` is a tensor `[*batch, 0, dim_x + dim_y]` that says what rows look like."""
    most = settings.get("max_points")
    if policy == "all":
        return KeepAll(context=empty)
    if most is None or most < 4:
        raise ConfigError(f"The {policy} policy needs max_points of at least 4, not {most}.")
    if policy == "window":
        anchor = settings.get("anchor", 0)
        if not 0 <= anchor <= most - 4:
            raise ConfigError(f"anchor {anchor} must leave at least 4 of the {most} points for the newest rows.")
        return Window(context=empty, first=empty, upcoming=None, max_points=most, anchor=anchor)
    if policy == "reservoir":
        x, y = like.split([settings["dim_x"], like.shape[-1] - settings["dim_x"]], dim=-1)
        return Reservoir(
            context=empty,
            empty=empty,
            x=x,
            y=y,
            pending_x=x,
            pending_y=y,
            max_points=most,
            seed=settings.get("seed", 0),
        )
    raise ConfigError(f"No memory policy is called {policy!r}: choose all, window or reservoir.")
