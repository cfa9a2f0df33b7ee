"""Trees of plain values, arrays and tensors as JSON and named tensors, and back, bit for bit."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

ARRAY, TENSOR = "\0array", "\0tensor"
"""Keys that no column can have by accident."""


def pack(tree: Any) -> tuple[Any, dict[str, Tensor]]:
    """The tree with names where arrays were, and what they name.

    >>> plain, tensors = pack({"rows": 3, "mean": np.ones(2)})
    >>> plain["rows"], list(tensors), unpack(plain, tensors)["mean"].tolist()
    (3, ['0'], [1.0, 1.0])
    """
    tensors: dict[str, Tensor] = {}
    return _packed(tree, tensors), tensors


def unpack(plain: Any, tensors: dict[str, Tensor]) -> Any:
    """The tree that was packed, tuples as lists."""
    match plain:
        case {"\0array": name}:
            return tensors[name].numpy()
        case {"\0tensor": name}:
            return tensors[name]
        case dict():
            return {key: unpack(value, tensors) for key, value in plain.items()}
        case list():
            return [unpack(value, tensors) for value in plain]
    return plain


def _packed(tree: Any, tensors: dict[str, Tensor]) -> Any:
    match tree:
        case dict():
            return {key: _packed(value, tensors) for key, value in tree.items()}
        case list() | tuple():
            return [_packed(value, tensors) for value in tree]
        case np.ndarray():
            given = torch.from_numpy(tree)
            # Numpy gives empty arrays strides of 0, with which their bytes cannot be hashed.
            return {ARRAY: _named(given.new_empty(given.shape).copy_(given), tensors)}
        case Tensor():
            return {TENSOR: _named(tree.contiguous(), tensors)}
    return tree


def _named(tensor: Tensor, tensors: dict[str, Tensor]) -> str:
    name = str(len(tensors))
    tensors[name] = tensor
    return name
