"""A run on disk: one safetensors file with the weights, the state of the optimisers and a JSON header."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from inctnp.atomic import write_atomically
from inctnp.errors import StateError, StorageError
from inctnp.pretrained.weights import tensors_hash

MODEL = "model."


def save_checkpoint(path: Path, model: nn.Module, optimisers: Sequence[Optimizer], header: dict[str, Any]) -> None:
    """Write everything a run needs to go on, atomically: a crash leaves the checkpoint before."""
    tensors = {f"{MODEL}{name}": tensor.contiguous() for name, tensor in model.state_dict().items()}
    for i, optimiser in enumerate(optimisers):
        for index, state in optimiser.state_dict()["state"].items():
            for key, value in state.items():
                tensors[f"optimiser{i}.{index}.{key}"] = torch.as_tensor(value)
    text = json.dumps({**header, "sha256": tensors_hash(tensors)})
    try:
        write_atomically(path, lambda part: save_file(tensors, part, {"run": text}))
    except (OSError, SafetensorError) as error:
        kept = "The checkpoint before it is intact" if path.exists() else "There is no earlier checkpoint"
        raise StorageError(
            f"The checkpoint {path} could not be written: {error}. {kept}. "
            "Make room or choose another --directory, and start the same command again."
        ) from error


def read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Header and tensors; refused if the file is damaged."""
    # In one go: a running process may put a newer file in place between two looks at this one.
    content = path.read_bytes()
    try:
        header = _header(content)
        tensors = load(content)
    except (SafetensorError, KeyError, ValueError) as error:  # JSON's own errors are among the last
        raise StateError(
            f"{path} is not a checkpoint of a training run, or is damaged: {error}. Start over with --fresh."
        ) from error
    # Runs of the first version carry no hash.
    if "sha256" in header and tensors_hash(tensors) != header["sha256"]:
        raise StateError(f"{path} is damaged: its tensors are not those that were saved. Start over with --fresh.")
    return header, tensors


def _header(content: bytes) -> dict[str, Any]:
    """What `save_checkpoint` was given: safetensors files begin with the length of a JSON text, then that text."""
    length = int.from_bytes(content[:8], "little")
    return dict(json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["run"]))


def restore(tensors: dict[str, Tensor], model: nn.Module, optimisers: Sequence[Optimizer]) -> None:
    """Put a model and its optimisers back to where they were saved."""
    try:
        model.load_state_dict(under(MODEL, tensors))
        for i, optimiser in enumerate(optimisers):
            state: dict[int, dict[str, Tensor]] = {}
            for name, tensor in under(f"optimiser{i}.", tensors).items():
                index, key = name.split(".", 1)
                state.setdefault(int(index), {})[key] = tensor
            optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
    except (RuntimeError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise StateError(
            f"The checkpoint holds another model than its recipe's: {first} Start over with --fresh."
        ) from error


def under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names start so, by the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
