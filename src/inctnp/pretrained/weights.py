"""A model as a folder: config.json and model.safetensors, checked against each other."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from inctnp.atomic import write_atomically
from inctnp.errors import ConfigError, MissingDataError, StateError
from inctnp.models.base import NeuralProcess
from inctnp.models.build import build
from inctnp.models.config import ModelConfig

CONFIG, WEIGHTS = "config.json", "model.safetensors"


def save_pretrained(
    model: NeuralProcess, directory: str | Path, *, about: Mapping[str, Any] | None = None, dtype: str | None = None
) -> Path:
    """Write settings and weights; `about` is kept beside them (results, recipe), `dtype` narrows what is stored."""
    directory = Path(directory)
    kept = getattr(torch, dtype) if dtype else None
    tensors = {name: t.to(kept).contiguous() if kept else t.contiguous() for name, t in model.state_dict().items()}
    described = {
        "model": dataclasses.asdict(model.config),
        "sha256": tensors_hash(tensors),
        "about": dict(about or {}),
    }
    write_atomically(directory / WEIGHTS, lambda part: save_file(tensors, part))
    text = json.dumps(described, indent=2) + "\n"
    write_atomically(directory / CONFIG, lambda part: part.write_text(text, encoding="utf-8"))
    return directory


def from_pretrained(directory: str | Path) -> NeuralProcess:
    """The model in a folder, in eval mode; refused if the weights are not those that were saved.

    In float32, or in float64 if it was saved so: narrower weights are widened, none are narrowed.
    """
    directory = Path(directory)
    described = read_config(directory)
    try:
        tensors = load_file(directory / WEIGHTS)
    except (SafetensorError, OSError) as error:
        raise StateError(f"{directory / WEIGHTS} cannot be read: {error}. Save the model again.") from error
    if tensors_hash(tensors) != described["sha256"]:
        raise StateError(
            f"The weights in {directory} are not the ones its {CONFIG} names: one of the two was changed or damaged. "
            "Get both from the same place again."
        )
    model = build(config_from(described["model"]))
    if any(tensor.dtype == torch.float64 for tensor in tensors.values()):
        model.double()
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise StateError(f"The weights in {directory} do not fit the settings beside them: {error}") from error
    return model.eval()


def read_config(directory: Path) -> dict[str, Any]:
    """What config.json says."""
    try:
        described: dict[str, Any] = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MissingDataError(f"{directory} holds no model: {CONFIG} and {WEIGHTS} were expected there.") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise StateError(f"{directory / CONFIG} is damaged: {error}.") from error
    if not {"model", "sha256"} <= described.keys():
        raise StateError(f"{directory / CONFIG} lacks 'model' or 'sha256': it was not written by save_pretrained.")
    return described


def config_from(plain: Mapping[str, Any]) -> ModelConfig:
    """Settings read from JSON, where tuples have become lists."""
    known = {field.name for field in dataclasses.fields(ModelConfig)}
    if unknown := set(plain) - known:
        raise ConfigError(f"Unknown model settings {sorted(unknown)}: the file was written by a newer version.")
    return ModelConfig(**{**plain, "grids": tuple(tuple(grid) for grid in plain.get("grids", ()))})


def tensors_hash(tensors: Mapping[str, Tensor]) -> str:
    """sha256 over names, types, shapes and bytes."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def weights_hash(model: NeuralProcess) -> str:
    """Identifies a model's weights as they are now."""
    return tensors_hash(model.state_dict())
