"""A run on disk: one safetensors file with the weights, the state of the optimisers and a JSON header."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from inctnp.atomic import write_atomically
from inctnp.errors import StateError


def save_checkpoint(path: Path, model: nn.Module, optimisers: Sequence[Optimizer], header: dict[str, Any]) -> None:
    """Write everything a run needs to go on, atomically: a crash leaves the checkpoint before."""
    tensors = {f"model.{name}": tensor.contiguous() for name, tensor in model.state_dict().items()}
    for i, optimiser in enumerate(optimisers):
        for index, state in optimiser.state_dict()["state"].items():
            for key, value in state.items():
                tensors[f"optimiser{i}.{index}.{key}"] = torch.as_tensor(value)
    write_atomically(path, lambda part: save_file(tensors, part, {"run": json.dumps(header)}))


def load_checkpoint(path: Path, model: nn.Module, optimisers: Sequence[Optimizer]) -> dict[str, Any]:
    """Put a run back to where it was saved; answers the header."""
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads(file.metadata()["run"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except (SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise StateError(f"{path} is not a checkpoint of a training run: {error}. Delete it to start over.") from error
    model.load_state_dict(_under("model.", tensors))
    for i, optimiser in enumerate(optimisers):
        saved = optimiser.state_dict()
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in _under(f"optimiser{i}.", tensors).items():
            index, key = name.split(".", 1)
            state.setdefault(int(index), {})[key] = tensor
        optimiser.load_state_dict({**saved, "state": state})
    return header


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
