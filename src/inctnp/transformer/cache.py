"""Keys and values of what was seen: a value to its holder, an append-only buffer underneath.

A `Cache` is a list of views into blocks. Appending never changes what another holder sees: whoever has the
newest row of a block may write behind it; anybody else starts a block of his own on top of the shared past.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor

from inctnp.notation import Rows
from inctnp.transformer.storage import EXACT, Packed, Storage, storage_named

LEAST_CAPACITY = 64
SHORT = 128
"""A tail of at most this many rows is copied rather than shared when its holders part ways."""


class Block:
    """A buffer of rows for every attention of the model; grows only at its end."""

    def __init__(self, slots: int, capacity: int) -> None:
        self.slots: list[Packed] = [()] * slots
        self.capacity = capacity
        self.filled = 0
        """Rows somebody has appended; behind them the buffer is free."""

    def write(self, slot: int, start: int, rows: Packed) -> None:
        """Put rows at `start`; the first write of a slot decides its type and allocates it."""
        count = rows[0].shape[-2]
        if not self.slots[slot]:
            if start == 0 and count == self.capacity:
                self.slots[slot] = tuple(part.contiguous() for part in rows)
                return
            self.slots[slot] = tuple(part.new_empty(*part.shape[:-2], self.capacity, part.shape[-1]) for part in rows)
        for buffer, part in zip(self.slots[slot], rows, strict=True):
            buffer[..., start : start + count, :] = part

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for packed in self.slots for part in packed)


@dataclass(frozen=True, eq=False)
class View:
    """The first `length` rows of a block."""

    block: Block
    length: int
    draws: int

    def packed(self, slot: int) -> Packed:
        return tuple(part[..., : self.length, :] for part in self.block.slots[slot])


@dataclass(frozen=True, eq=False, kw_only=True)
class Cache:
    """An immutable sequence of rows; `slots` counts the attentions that keep keys and values."""

    slots: int
    storage: Storage = EXACT
    draws: int = 1
    """Continuations followed side by side; they share every view that has one draw."""
    room: int = 0
    """Rows for which the next append starts a block of its own, however much is free behind the last view."""
    views: tuple[View, ...] = ()

    def __len__(self) -> int:
        return sum(view.length for view in self.views)

    def append(self, points: int) -> "Append":
        """Open an append of so many rows; nobody sees them before `Append.done`."""
        if torch.is_grad_enabled():
            # In-place writes would corrupt the graph.
            return self.overlay(points)
        if self.room:
            return self._on(self.views, Block(self.slots, max(self.room, points)), points)
        if not self.views:
            return self.overlay(points)
        last = self.views[-1]
        if last.draws != self.draws:
            return self._on(self.views, Block(self.slots, max(LEAST_CAPACITY, points)), points)
        if last.length == last.block.filled:
            if last.length + points <= last.block.capacity:
                return Append(self, self.views[:-1], last, points)
            return self._moved(points)
        if last.length <= SHORT:
            return self._moved(points)
        return self._on(self.views, Block(self.slots, max(LEAST_CAPACITY, points)), points)

    def overlay(self, points: int) -> "Append":
        """Open an append into a block of exactly this size: nothing of the past is touched or copied.

        For rows that carry gradients, and for rows that are looked at once and dropped.
        """
        return self._on(self.views, Block(self.slots, points), points)

    def truncate(self, rows: int) -> Self:
        """The oldest `rows` rows. Costs nothing: only lengths change."""
        views: list[View] = []
        for view in self.views:
            if rows > 0:
                views.append(replace(view, length=min(view.length, rows)))
                rows -= view.length
        return replace(self, views=tuple(views))

    def branch(self, draws: int, rows: int) -> Self:
        """The same past, about to be continued in `draws` ways by so many rows; its buffers stay untouched."""
        return replace(self, draws=draws, room=max(1, rows))

    def pieces(self, slot: int, dtype: torch.dtype) -> list[Rows]:
        """Keys and values of one attention, oldest first, ready for `attend`."""
        return [self.storage.unpack(view.packed(slot), dtype) for view in self.views]

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers this cache keeps alive, free room included."""
        return sum(view.block.nbytes for view in self.views)

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Views and rows as numbers and tensors; the cut into views is kept, for it decides how sums are rounded."""
        header = {
            "storage": self.storage.name,
            "views": [[view.length, view.block.capacity, view.block.filled] for view in self.views],
        }
        tensors = {
            f"view{i}.slot{slot}.part{j}": part.contiguous()
            for i, view in enumerate(self.views)
            for slot in range(self.slots)
            for j, part in enumerate(view.packed(slot))
        }
        return header, tensors

    def _on(self, views: tuple[View, ...], block: Block, points: int) -> "Append":
        return Append(self, views, View(block, 0, self.draws), points)

    def _moved(self, points: int) -> "Append":
        """Copy the tail, and any older view no longer than its new home, into a block with room to grow.

        Doubling makes the copies amortise, and merging keeps the number of views logarithmic.
        """
        rest, tail = list(self.views[:-1]), [self.views[-1]]
        capacity = max(LEAST_CAPACITY, 2 * (tail[0].length + points))
        while rest and rest[-1].length <= capacity and rest[-1].draws == self.draws:
            tail.insert(0, rest.pop())
            capacity = max(capacity, 2 * (sum(view.length for view in tail) + points))
        block = Block(self.slots, capacity)
        for view in tail:
            for slot in range(self.slots):
                if view.block.slots[slot]:
                    block.write(slot, block.filled, view.packed(slot))
            block.filled += view.length
        return Append(self, tuple(rest), View(block, block.filled, self.draws), points)


class Append:
    """Rows on their way into a cache, attention by attention."""

    def __init__(self, before: Cache, kept: Sequence[View], last: View, points: int) -> None:
        self._last = last
        # Not `replace`: at several times the price it would be a tenth of what a short stream pays for a row.
        grown = View(last.block, last.length + points, last.draws)
        self._after = Cache(slots=before.slots, storage=before.storage, draws=before.draws, views=(*kept, grown))

    @property
    def draws(self) -> int:
        return self._after.draws

    @property
    def after(self) -> Cache:
        """The cache as it will be: for compiled code, which writes the new rows at its end by itself."""
        return self._after

    def write(self, slot: int, rows: Rows) -> None:
        """Store the new rows of one attention."""
        self._last.block.write(slot, self._last.length, self._after.storage.pack(rows))

    def pieces(self, slot: int, dtype: torch.dtype) -> list[Rows]:
        """Everything a new row may look at once its own slot is written: the past and the new rows."""
        return self._after.pieces(slot, dtype)

    def done(self) -> Cache:
        """The cache with the new rows. Without this call nothing has happened."""
        self._last.block.filled = self._after.views[-1].length
        return self._after


def restore_cache(slots: int, header: dict[str, Any], tensors: dict[str, Tensor]) -> Cache:
    """The cache whose `state` this was, with the same room behind its rows, free or taken by somebody else."""
    views: list[View] = []
    for i, (length, capacity, filled) in enumerate(header["views"]):
        block = Block(slots, capacity)
        for slot in range(slots):
            names = sorted(name for name in tensors if name.startswith(f"view{i}.slot{slot}."))
            block.write(slot, 0, tuple(tensors[name] for name in names))
        block.filled = filled
        views.append(View(block, length, draws=1))
    return Cache(slots=slots, storage=storage_named(header["storage"]), views=tuple(views))
