"""A regressor as plain parts, for pickles and for files that hold more than it.

Pickled objects of this library are a JSON text and a safetensors block: nothing in them is code, and no torch object is
pickled.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

from safetensors.torch import load, save
from torch import Tensor

from inctnp.regressor import RegressorSettings, StreamingRegressor
from inctnp.regressor.packing import pack, unpack
from inctnp.streaming.sealed import facts_of, model_of

Header = dict[str, Any]
Portable = tuple[str, bytes]
"""The header as JSON, and its tensors as safetensors."""


def taken_apart(regressor: StreamingRegressor) -> tuple[Header, dict[str, Tensor]]:
    """A header of plain values and the tensors it names."""
    tree, tensors = pack(regressor.state())
    return {**facts_of(regressor.model), "settings": dataclasses.asdict(regressor.settings), "state": tree}, tensors


def put_together(header: Header, tensors: dict[str, Tensor], where: str | Path) -> StreamingRegressor:
    """The regressor again; its model is found by the name or folder it came from, and has to be the same."""
    model = model_of(Path(where), header, None)
    regressor = StreamingRegressor.of(model, RegressorSettings.restore(header["settings"]))
    regressor.restore(unpack(header["state"], tensors))
    return regressor


def to_portable(regressor: StreamingRegressor) -> Portable:
    """What a pickle holds instead of a regressor."""
    header, tensors = taken_apart(regressor)
    return json.dumps(header, sort_keys=True), save({name: tensor.clone() for name, tensor in tensors.items()})


def from_portable(parts: Portable) -> StreamingRegressor:
    """The regressor a pickle holds."""
    header, tensors = parts
    return put_together(json.loads(header), load(tensors), "The pickle")
