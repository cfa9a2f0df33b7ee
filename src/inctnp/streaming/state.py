"""A stream in a file: safetensors with a JSON header that says what it is and proves that it is whole."""

import dataclasses
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from inctnp.atomic import write_atomically
from inctnp.errors import MissingDataError, StateError, StorageError, UnknownNameError
from inctnp.models.base import NeuralProcess
from inctnp.pretrained.registry import load
from inctnp.pretrained.weights import tensors_hash, weights_hash
from inctnp.streaming.memory import Memory

FORMAT = "inctnp-stream"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A stream about to be written."""

    model: NeuralProcess
    settings: dict[str, Any]
    memory: Memory
    x: Tensor
    y: Tensor


@dataclass(frozen=True, eq=False)
class Restored:
    """A stream as read: its model, settings and raw rows, and the contents of its memory."""

    model: NeuralProcess
    settings: dict[str, Any]
    contexts: dict[str, Any]
    numbers: dict[str, Any]
    rows: dict[str, Tensor]
    x: Tensor
    y: Tensor

    def restore(self, fresh: Memory) -> Memory:
        """The memory as it was, from one that was just started."""
        changes: dict[str, Any] = {**self.contexts, **self.numbers, **self.rows}
        return replace(fresh, **changes)


def write_snapshot(path: Path, snapshot: Snapshot) -> Path:
    """Write atomically: whoever reads the file finds the state before or the state after, never half of it."""
    tensors = {"x": snapshot.x.contiguous(), "y": snapshot.y.contiguous()}
    contexts: dict[str, Any] = {}
    written: dict[int, str] = {}
    for name, context in snapshot.memory.held().items():
        if context is None:
            continue
        if id(context) in written:
            # Who shares a block with whom decides where later rows go, and so how sums are rounded.
            contexts[name] = {"same_as": written[id(context)]}
            continue
        written[id(context)] = name
        contexts[name], parts = context.state()
        tensors.update({f"{name}/{key}": part for key, part in parts.items()})
    tensors.update({f"rows/{name}": rows.contiguous() for name, rows in snapshot.memory.rows().items()})
    header = {
        "format": FORMAT,
        "version": VERSION,
        "model": snapshot.model.identity,
        "config": _plain(snapshot.model),
        "weights": weights_hash(snapshot.model),
        "dtype": str(snapshot.model.dtype),
        "settings": snapshot.settings,
        "contexts": contexts,
        "numbers": snapshot.memory.numbers(),
    }
    text = json.dumps(header, sort_keys=True)
    # Views of shared buffers are written as they are; safetensors refuses tensors that overlap.
    tensors = {name: tensor.clone() for name, tensor in tensors.items()}
    metadata = {"header": text, "sha256": _seal(text, tensors)}
    try:
        write_atomically(path, lambda part: save_file(tensors, part, metadata))
    except (OSError, SafetensorError) as error:
        raise StorageError(
            f"The stream could not be saved to {path}: {error}. What was there before still is."
        ) from error
    return path


def read_snapshot(path: Path, model: NeuralProcess | None) -> Restored:
    """Read a state, or say precisely why it cannot be used."""
    header, tensors = _read(path)
    if model is None:
        if not header["model"]:
            raise StateError(f"{path} was saved by a model without a name: load that model and pass it as model=.")
        try:
            model = load(header["model"]).to(getattr(torch, header["dtype"].removeprefix("torch.")))
        except UnknownNameError as error:
            raise StateError(
                f"{path} was saved by the model {header['model']!r}, which is not here: load it and pass it as model=."
            ) from error
    if weights_hash(model) != header["weights"] or _plain(model) != header["config"]:
        raise StateError(
            f"{path} belongs to a model with other weights or settings "
            f"({header['config']['name']}, {header['weights'][:12]}…). Load the model it was saved with, in the same "
            "precision, and pass it as model=."
        )
    contexts = {
        name: model.restore(numbers, _under(f"{name}/", tensors))
        for name, numbers in header["contexts"].items()
        if "same_as" not in numbers
    }
    aliases = {name: numbers["same_as"] for name, numbers in header["contexts"].items() if "same_as" in numbers}
    contexts.update({name: contexts[other] for name, other in aliases.items()})
    rows = _under("rows/", tensors)
    return Restored(model, header["settings"], contexts, header["numbers"], rows, tensors["x"], tensors["y"])


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except FileNotFoundError as error:
        raise MissingDataError(f"There is no saved stream at {path}.") from error
    except (SafetensorError, OSError) as error:
        raise StateError(f"{path} is damaged or no saved stream: {error}. Go back to an earlier copy.") from error
    try:
        header = json.loads(metadata["header"])
        kind, version = header["format"], header["version"]
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise StateError(f"{path} is a safetensors file, but not a saved stream.") from error
    if kind != FORMAT:
        raise StateError(f"{path} holds {kind!r}, not a saved stream ({FORMAT!r}).")
    if not isinstance(version, int) or version > VERSION:
        raise StateError(f"{path} has format version {version}; this release reads up to {VERSION}. Upgrade inctnp.")
    if metadata.get("sha256") != _seal(metadata["header"], tensors):
        raise StateError(f"{path} was changed after it was saved: its checksum does not match. Use another copy.")
    return header, tensors


def _plain(model: NeuralProcess) -> dict[str, Any]:
    """Settings as JSON gives them back."""
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(model.config)))
    return plain


def _seal(header: str, tensors: dict[str, Tensor]) -> str:
    return tensors_hash({**tensors, "header": torch.frombuffer(bytearray(header.encode()), dtype=torch.uint8)})


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
