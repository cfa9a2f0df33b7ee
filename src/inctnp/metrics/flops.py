"""Work as the number of multiplications and additions in matrix products: the same on any machine."""

from collections.abc import Callable, Sequence
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from inctnp.metrics.live_memory import plain


class FlopCounter(TorchDispatchMode):
    """Adds up PyTorch's formulas for the operations that run.

    Its own `FlopCounterMode` also follows modules, and fails on those that hand a parameter on without gradients.
    """

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_dispatch__(
        self, func: Any, types: Sequence[Any], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        formula = flop_registry.get(func._overloadpacket)
        if formula is not None:
            self.total += int(formula(*args, **(kwargs or {}), out_val=out))
        return out


def count_flops(work: Callable[[], object]) -> int:
    """Of everything this does; attention through plain products, for fused kernels may report nothing.

    >>> import torch
    >>> count_flops(lambda: torch.ones(2, 3) @ torch.ones(3, 5))
    60
    """
    with plain(), FlopCounter() as counter:
        work()
    return counter.total
