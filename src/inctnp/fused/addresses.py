"""Where the rows of a cache lie in memory, as a table that compiled code reads.

One row per piece of the cache: points, capacity, then the address of every part of every slot. Compiled code reads
and writes the buffers of the cache itself, so there is one format, and eager and fused steps may take turns.
"""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch

from inctnp.transformer.cache import Block, Cache

EXACT, BFLOAT16, INT8 = range(3)
KINDS = {"exact": EXACT, "bfloat16": BFLOAT16, "int8": INT8}
TYPES = {"exact": torch.float32, "bfloat16": torch.bfloat16, "int8": torch.int8}
HEADER = 2
"""Columns before the addresses: points and capacity."""
PARTS = 2
"""Addresses per slot; those of exact and bfloat16 rows leave the second empty."""
Table = Any
"""An int64 array [piece, column]."""

_known: WeakKeyDictionary[Block, Any] = WeakKeyDictionary()


def table_of(cache: Cache) -> Table:
    """A fresh table of all rows of a cache."""
    views = cache.views
    # One piece is the usual case, and a copy takes a third of the time.
    rows = [row_of(view.block) for view in views]
    table = rows[0].copy() if len(rows) == 1 else np.concatenate(rows)
    for i, view in enumerate(views):
        table[i, 0] = view.length
    return table


def row_of(block: Block) -> Table:
    """The table's row of a block whose buffers are all there."""
    row = _known.get(block)
    if row is None:
        row = np.zeros((1, HEADER + PARTS * len(block.slots)), dtype=np.int64)
        row[0, 1] = block.capacity
        for slot, packed in enumerate(block.slots):
            for part, buffer in enumerate(packed):
                row[0, HEADER + PARTS * slot + part] = buffer.data_ptr()
        _known[block] = row
    return row


def is_one_stream(cache: Cache) -> bool:
    """Whether every piece holds float32 rows, or narrow ones, of one context and one draw on this processor."""
    dtype = TYPES[cache.storage.name]
    return all(view.draws == 1 and _readable(view.block, dtype) for view in cache.views)


def _readable(block: Block, dtype: torch.dtype) -> bool:
    if block in _known:
        return True
    # `[2, batch, head, draw, point, depth]`
    return all(
        packed
        and packed[0].shape[1] == 1
        and all(part.is_contiguous() and part.device.type == "cpu" for part in packed)
        and packed[0].dtype == dtype
        for packed in block.slots
    )
