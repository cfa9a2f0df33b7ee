"""Bytes of tensors alive while something runs, counted at every operation: the same number on any machine."""

import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Attention = Callable[[], AbstractContextManager[Any]]
"""Which kernels may compute attention while something is measured."""


def fused() -> AbstractContextManager[Any]:
    """Leave the choice to the library: the fused kernel wherever it is the faster one."""
    return nullcontext()


def plain() -> AbstractContextManager[Any]:
    """Matrix products with all scores in memory, however many there are."""
    return sdpa_kernel(SDPBackend.MATH)


class LiveMemory(TorchDispatchMode):
    """Adds up the storages that operations allocate, and takes them off when they are freed.

    What a kernel allocates and frees inside itself is not seen.

    >>> with LiveMemory() as memory:
    ...     kept = torch.zeros(100)
    ...     _ = torch.zeros(50)[:10] + 1
    >>> memory.peak, memory.live >= kept.nbytes
    (640, True)
    """

    def __init__(self) -> None:
        super().__init__()
        self.live = 0
        self.peak = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, func: Any, types: Sequence[Any], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        # What came in is not new, even if an operation hands it on.
        self._meet(tree_leaves((args, kwargs)), count=False)
        out = func(*args, **(kwargs or {}))
        self._meet(tree_leaves(out), count=True)
        return out

    def _meet(self, leaves: Iterable[Any], count: bool) -> None:
        for tensor in (leaf for leaf in leaves if torch.is_tensor(leaf)):
            storage = tensor.untyped_storage()
            if storage._cdata in self._known:
                continue
            size = storage.nbytes() if count else 0
            self._known.add(storage._cdata)
            weakref.finalize(storage, self._forget, storage._cdata, size)
            self.live += size
            self.peak = max(self.peak, self.live)

    def _forget(self, identity: int, size: int) -> None:
        self._known.discard(identity)
        self.live -= size


def peak_bytes(work: Callable[[], object], attention: Attention = fused) -> int:
    """The most bytes that were alive at once of what this work allocated."""
    with attention(), LiveMemory() as memory:
        work()
    return memory.peak
