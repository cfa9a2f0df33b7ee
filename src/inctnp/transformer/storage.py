"""How keys and values are kept: exactly, in 16 bits, or in 8 bits with a scale per row and head."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from inctnp.errors import UnknownNameError

Packed = tuple[Tensor, ...]
"""What is stored in place of one tensor; in every part the second axis from the right counts points."""


class Storage(ABC):
    """A way to write rows of keys and values and to read them back."""

    name: str

    @abstractmethod
    def pack(self, rows: Tensor) -> Packed: ...

    @abstractmethod
    def unpack(self, packed: Packed, dtype: torch.dtype) -> Tensor: ...

    @abstractmethod
    def bytes_per_row(self, depth: int, dtype: torch.dtype) -> int:
        """Bytes of one key or one value of one head."""


@dataclass(frozen=True)
class Exact(Storage):
    """As computed: no loss, no conversion."""

    name: str = "exact"

    def pack(self, rows: Tensor) -> Packed:
        return (rows,)

    def unpack(self, packed: Packed, dtype: torch.dtype) -> Tensor:
        return packed[0]

    def bytes_per_row(self, depth: int, dtype: torch.dtype) -> int:
        return depth * dtype.itemsize


@dataclass(frozen=True)
class BFloat16(Storage):
    """Half the bytes of float32, eight significant bits."""

    name: str = "bfloat16"

    def pack(self, rows: Tensor) -> Packed:
        return (rows.to(torch.bfloat16),)

    def unpack(self, packed: Packed, dtype: torch.dtype) -> Tensor:
        return packed[0].to(dtype)

    def bytes_per_row(self, depth: int, dtype: torch.dtype) -> int:
        return 2 * depth


@dataclass(frozen=True)
class Int8(Storage):
    """Whole numbers of at most 127 times a float16 scale, one per row and head.

    A row is its own block, so what is stored does not depend on how the stream was cut.
    """

    name: str = "int8"

    def pack(self, rows: Tensor) -> Packed:
        largest = rows.abs().amax(dim=-1, keepdim=True).float()
        # The smallest normal float16 keeps the division finite for rows of zeros.
        scale = (largest / 127).clamp(2.0**-14, 65504.0).to(torch.float16)
        return ((rows / scale).round().clamp(-127, 127).to(torch.int8), scale)

    def unpack(self, packed: Packed, dtype: torch.dtype) -> Tensor:
        return packed[0].to(dtype) * packed[1].to(dtype)

    def bytes_per_row(self, depth: int, dtype: torch.dtype) -> int:
        return depth + 2


EXACT = Exact()
STORAGES: dict[str, Storage] = {storage.name: storage for storage in (EXACT, BFloat16(), Int8())}


def storage_named(name: str) -> Storage:
    """Look a storage up: `exact`, `bfloat16` or `int8`."""
    try:
        return STORAGES[name]
    except KeyError:
        raise UnknownNameError(f"No storage is called {name!r}: choose from {', '.join(STORAGES)}.") from None
