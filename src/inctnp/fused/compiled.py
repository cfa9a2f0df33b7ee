"""The compiled entry point: one function, compiled once for a release and a processor, kept in the user's cache.

Importing this module loads the compiler, so it is imported when the first row is to be answered.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, no_type_check

import numba
import numpy as np
import torch

from inctnp.fused import row
from inctnp.fused.attention import DEPTH
from inctnp.fused.folder import writable_folder

ASK, LEARN, ASK_THEN_LEARN = 1, 2, 3
THREADS_FROM = 5000
"""Points in one piece from which sharing a row's attention among threads is worth waking them."""
config: Any = numba.config
_loading = threading.Lock()
_one_at_a_time = threading.Lock()
"""Not every threading layer of numba may be entered twice at once."""
_home = os.getpid()
_ready = threading.Event()


def compiled_once(function: Callable[..., Any]) -> Any:
    """Compile on the first call, or read what an earlier process compiled.

    Files appear whole, so processes that compile at the same time do each other no harm. Where nothing can be
    written, each process compiles for itself.
    """
    home = writable_folder()
    if home is None:
        return numba.njit(function, nogil=True)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(home)
    try:
        return numba.njit(function, cache=True, nogil=True)
    finally:
        config.CACHE_DIR = before


@compiled_once
@no_type_check
def _step(weights, tables, ends, kind, parts, x, y, what):
    numbers = np.empty((len(ends), weights.decode_bias.shape[0]), np.float32)
    start = 0
    for i in range(len(ends)):
        table = tables[start : ends[i]]
        if what == ASK:
            numbers[i] = row.ask(weights, table, kind, parts, x[i])
        elif what == LEARN:
            row.learn(weights, table, kind, parts, x[i], y[i])
        else:
            table[-1, 0] -= 1
            numbers[i] = row.ask(weights, table, kind, parts, x[i])
            table[-1, 0] += 1
            row.learn(weights, table, kind, parts, x[i], y[i])
        start = ends[i]
    return numbers


def step(weights: Any, tables: Sequence[Any], kind: int, x: Any, y: Any, what: int) -> Any:
    """For each stream, given by its table: predict at x, or learn (x, y) into its last row, or the one, then the other.

    What was predicted is answered as one row of numbers for each stream.
    """
    together = tables[0] if len(tables) == 1 else np.concatenate(tables)
    ends = np.cumsum([len(table) for table in tables])
    parts = _parts(int(together[:, 0].max()), weights.out.shape[-1] // DEPTH)
    if not _ready.is_set():
        with _loading, _threads_of_torch():
            numbers = _step(weights, together, ends, kind, parts, x, y, what)
        _ready.set()
        return numbers
    if parts == 0:
        return _step(weights, together, ends, kind, parts, x, y, what)
    with _one_at_a_time, _threads_of_numba(torch.get_num_threads()):
        return _step(weights, together, ends, kind, parts, x, y, what)


def _parts(points: int, heads: int) -> int:
    """Parts into which the points of each head are cut for threads; 0 is none of either."""
    threads = torch.get_num_threads()
    # OpenMP ends a forked process that uses threads of its parent.
    if points < THREADS_FROM or threads == 1 or os.getpid() != _home:
        return 0
    return -(-threads // heads)


@contextmanager
def _threads_of_torch() -> Iterator[None]:
    """Loading code with a parallel loop starts OpenMP with every core, which torch shares: put back what was set."""
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def _threads_of_numba(wanted: int) -> Iterator[None]:
    before = numba.get_num_threads()
    numba.set_num_threads(min(wanted, config.NUMBA_NUM_THREADS))
    try:
        yield
    finally:
        numba.set_num_threads(before)
