"""The compiled entry point: one function, compiled once for a release and a processor, kept in the user's cache.

Importing this module loads the compiler, so it is imported when the first row is to be answered.
"""

import os
import threading
from collections.abc import Callable, Iterator
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
"""Points from which sharing a row's attention among threads is worth waking them."""
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
def _step(weights, table, kind, parts, x, y, what):
    numbers = np.empty(0, np.float32)
    if what == ASK:
        numbers = row.ask(weights, table, kind, parts, x)
    elif what == LEARN:
        row.learn(weights, table, kind, parts, x, y)
    else:
        table[-1, 0] -= 1
        numbers = row.ask(weights, table, kind, parts, x)
        table[-1, 0] += 1
        row.learn(weights, table, kind, parts, x, y)
    return numbers


def step(weights: Any, table: Any, kind: int, x: Any, y: Any, what: int) -> Any:
    """Predict at x, or learn (x, y) into the last row of the table, or the one and then the other."""
    parts = _parts(int(table[:, 0].sum()), weights.out.shape[-1] // DEPTH)
    if not _ready.is_set():
        with _loading, _threads_of_torch():
            numbers = _step(weights, table, kind, parts, x, y, what)
        _ready.set()
        return numbers
    if parts == 0:
        return _step(weights, table, kind, parts, x, y, what)
    with _one_at_a_time, _threads_of_numba(torch.get_num_threads()):
        return _step(weights, table, kind, parts, x, y, what)


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
