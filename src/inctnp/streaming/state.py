"""A stream in a file that `Stream.load` goes on from."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from inctnp.models.base import NeuralProcess
from inctnp.streaming.memory import Memory
from inctnp.streaming.sealed import Kind, facts_of, model_of

STREAM = Kind("inctnp-stream", 1, "stream")


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
    """Write everything a stream is."""
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
        **facts_of(snapshot.model),
        "settings": snapshot.settings,
        "contexts": contexts,
        "numbers": snapshot.memory.numbers(),
    }
    return STREAM.write(path, header, tensors)


def read_snapshot(path: Path, model: NeuralProcess | None) -> Restored:
    """Read a state, or say precisely why it cannot be used."""
    header, tensors = STREAM.read(path)
    model = model_of(path, header, model)
    contexts = {
        name: model.restore(numbers, _under(f"{name}/", tensors))
        for name, numbers in header["contexts"].items()
        if "same_as" not in numbers
    }
    aliases = {name: numbers["same_as"] for name, numbers in header["contexts"].items() if "same_as" in numbers}
    contexts.update({name: contexts[other] for name, other in aliases.items()})
    rows = _under("rows/", tensors)
    return Restored(model, header["settings"], contexts, header["numbers"], rows, tensors["x"], tensors["y"])


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
