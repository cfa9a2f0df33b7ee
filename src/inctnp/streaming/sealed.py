"""One safetensors file with a JSON header that says what it is, for which model, and proves that it is whole."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
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

Header = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """What a file holds."""

    format: str
    version: int
    noun: str
    """In messages."""

    def write(self, path: Path, header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Path:
        """Write atomically: whoever reads the file finds the state before or the state after, never half of it."""
        text = json.dumps({**header, "format": self.format, "version": self.version}, sort_keys=True)
        # Views of shared buffers are written as they are; safetensors refuses tensors that overlap.
        parts = {name: tensor.clone() for name, tensor in tensors.items()}
        metadata = {"header": text, "sha256": _seal(text, parts)}
        try:
            write_atomically(path, lambda part: save_file(parts, part, metadata))
        except (OSError, SafetensorError) as error:
            raise StorageError(
                f"The {self.noun} could not be saved to {path}: {error}. What was there before still is."
            ) from error
        return path

    def read(self, path: Path) -> tuple[Header, dict[str, Tensor]]:
        """Header and tensors, or precisely why they cannot be used."""
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        except FileNotFoundError as error:
            raise MissingDataError(f"There is no saved {self.noun} at {path}.") from error
        except (SafetensorError, OSError) as error:
            raise StateError(
                f"{path} is damaged or no saved {self.noun}: {error}. Go back to an earlier copy."
            ) from error
        try:
            header = json.loads(metadata["header"])
            kind, version = header["format"], header["version"]
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise StateError(f"{path} is a safetensors file, but not a saved {self.noun}.") from error
        if kind != self.format:
            raise StateError(f"{path} holds {kind!r}, not a saved {self.noun} ({self.format!r}).")
        if not isinstance(version, int) or version > self.version:
            raise StateError(
                f"{path} has format version {version}; this release reads up to {self.version}. Upgrade inctnp."
            )
        if metadata.get("sha256") != _seal(metadata["header"], tensors):
            raise StateError(f"{path} was changed after it was saved: its checksum does not match. Use another copy.")
        return header, tensors


def facts_of(model: NeuralProcess) -> Header:
    """What a header says of the model, so that it can be found again and nothing else is taken for it."""
    return {
        "model": model.identity,
        "config": _plain(model),
        "weights": weights_hash(model),
        "dtype": str(model.dtype),
    }


def model_of(path: Path, header: Header, model: NeuralProcess | None) -> NeuralProcess:
    """The model a header speaks of: the one given, or the one that ships under its name."""
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
    return model


def _plain(model: NeuralProcess) -> Header:
    """Settings as JSON gives them back."""
    plain: Header = json.loads(json.dumps(dataclasses.asdict(model.config)))
    return plain


def _seal(header: str, tensors: dict[str, Tensor]) -> str:
    return tensors_hash({**tensors, "header": torch.frombuffer(bytearray(header.encode()), dtype=torch.uint8)})
