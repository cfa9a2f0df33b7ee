"""Reads checkpoints of the authors' published code into our models."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from inctnp.errors import StateError
from inctnp.models.base import NeuralProcess
from inctnp.models.build import build
from inctnp.models.config import ModelConfig

STACK = "encoder.transformer_encoder."
GRID = "encoder.x_encoder.wave_grid"
HEADS = 8
TABULAR_STD_MIN = 1e-4
"""Added to the standard deviation by the published tabular models; the others add nothing."""
STATION_RANGES = ((1e-3, 2.0), (1e-3, 2.0), (0.1, 8.0), (1.0, 8760.0))
"""Shortest and longest wavelength of latitude, longitude, elevation and hours in the published settings."""
PER_INPUT = 16
FIRST = "encoder.xy_encoder.net.0.weight"
CNP_FIRST = "encoder.deepset.z_encoder.net.0.weight"


def load_published(path: str | Path, prefix: str = "", **settings: Any) -> NeuralProcess:
    """The model in a published checkpoint, in eval mode and float32.

    The kind of model, its sizes, Fourier grid and noise floor follow from the names and shapes of the tensors and
    from the file's metadata; keywords of `ModelConfig` overrule them. TNP-D, incTNP and incTNP-Seq have the same
    tensors: without metadata that tell, say `name=`.
    """
    tensors, hint = _read(Path(path))
    weights = {
        name.removeprefix(prefix): t.float() if t.dtype == torch.float16 else t
        for name, t in tensors.items()
        if name.startswith(prefix)
    }
    if not any(name.startswith(("encoder.", "decoder.")) for name in weights):
        raise StateError(
            f"{path} holds no published model: no tensor is named {prefix}encoder.… "
            "Give the prefix its names start with (prefix='sd.', say)."
        )
    config = replace(_config(weights, hint, settings), **settings)
    model = build(config)
    try:
        model.load_state_dict(_translate(weights, config))
    except (RuntimeError, KeyError) as error:
        raise StateError(f"{path} does not fit {config.name}: {error}") from error
    return model.eval()


def _read(path: Path) -> tuple[dict[str, Tensor], str]:
    """Tensors, and whatever text of the file may say what they are."""
    if path.suffix == ".safetensors":
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                return {name: file.get_tensor(name) for name in file.keys()}, " ".join(metadata.values())  # noqa: SIM118
        except SafetensorError as error:
            raise StateError(f"{path} is not a readable safetensors file: {error}") from error
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise StateError(
            f"{path} holds more than tensors, or is damaged: {error}. Save its state dict alone."
        ) from error
    stored = stored.get("state_dict", stored)
    return {name: value for name, value in stored.items() if isinstance(value, Tensor)}, path.as_posix()


def _config(weights: Mapping[str, Tensor], hint: str, settings: Mapping[str, Any]) -> ModelConfig:
    name = settings.get("name") or _name(weights, hint)
    outputs = weights[_last(weights, "decoder.z_decoder.net.")].shape[0]
    dim_y = settings.get("dim_y", outputs // 2)
    first = weights[CNP_FIRST if name == "cnp" else FIRST]
    features = first.shape[1] - dim_y - (name != "cnp")
    grids = settings.get("grids") or _grids(weights, features)
    config = ModelConfig(
        name=name,
        dim_x=len(grids) or features,
        dim_y=dim_y,
        width=first.shape[0],
        heads=HEADS,
        # Only the tabular models have many plain inputs.
        std_min=TABULAR_STD_MIN if not grids and features > len(STATION_RANGES) else 0.0,
        grids=grids,
    )
    if name == "cnp":
        hidden = sum(key.startswith("encoder.deepset") and key.endswith("weight") for key in weights) - 1
        return replace(config, hidden_layers=hidden)
    block = next(key for key in weights if key.endswith(".0.ff_block.0.weight"))
    return replace(
        config,
        feedforward=weights[block].shape[0],
        layers=len({key.split(".")[3] for key in weights if key.startswith(STACK) and "_layers." in key}),
        latents=len(weights[STACK + "latents"]) if name == "lbanp" else config.latents,
    )


def _name(weights: Mapping[str, Tensor], hint: str) -> str:
    """Which model these tensors are; the three that share their names are told apart by the configuration's name."""
    if CNP_FIRST in weights:
        return "cnp"
    if STACK + "latents" in weights:
        return "lbanp"
    if not any(key.startswith(STACK + "mhca_layers.") for key in weights):
        return "tnp-a"
    hint = hint.lower()
    if "batched_causal" in hint or "seq" in hint:
        return "inctnp-seq"
    if "causal" in hint or "inctnp" in hint:
        return "inctnp"
    if "plain" in hint or "tnp_d" in hint or "tnp-d" in hint or "tnpd" in hint:
        return "tnp-d"
    raise StateError(
        "TNP-D, incTNP and incTNP-Seq have the same tensors and nothing in the file says which this is: "
        "give name='tnp-d', 'inctnp' or 'inctnp-seq'."
    )


def _grids(weights: Mapping[str, Tensor], features: int) -> tuple[tuple[float, ...], ...]:
    """Wavelengths stored with the weights, or, for a station model saved without them, the published ones."""
    if GRID in weights:
        return tuple(tuple(row.tolist()) for row in weights[GRID].double().view(len(STATION_RANGES), -1))
    if features != 2 * len(STATION_RANGES) * PER_INPUT:
        return ()
    # Evenly spaced in log10 and then raised to powers of e: a slip of the published code that its weights have learned.
    ranges = [(math.log10(low), math.log10(high)) for low, high in STATION_RANGES]
    return tuple(tuple(torch.linspace(*ends, PER_INPUT, dtype=torch.float64).exp().tolist()) for ends in ranges)


def _last(weights: Mapping[str, Tensor], prefix: str) -> str:
    numbers = [int(key[len(prefix) :].split(".")[0]) for key in weights if key.startswith(prefix)]
    return f"{prefix}{max(numbers)}.weight"


def _translate(weights: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """Published names to ours; query, key and value projections become one matrix."""
    ours: dict[str, Tensor] = {}
    renamed = {
        "encoder.deepset.z_encoder.net.": "encoder.",
        "encoder.xy_encoder.net.": "embed.net.",
        "decoder.z_decoder.net.": "decoder.net.",
        STACK + "latents": "stack.latents",
        STACK + "mhsa_layers.": "stack.self_blocks.",
        STACK + "mhca_layers.": "stack.cross_blocks.",
        STACK + "mhca_ctoq_layers.": "stack.gather_blocks.",
        STACK + "mhca_qtot_layers.": "stack.cross_blocks.",
    }
    inside = {
        "attn.to_out.0.": "out.",
        "ff_block.0.": "up.",
        "ff_block.3.": "down.",
    }
    for key, tensor in weights.items():
        old = next((start for start in renamed if key.startswith(start)), None)
        if old is None:
            continue
        name = renamed[old] + key[len(old) :]
        for part, new in inside.items():
            name = name.replace(part, new)
        if name.endswith("attn.to_q.weight"):
            fused = [weights[key.replace("to_q", f"to_{part}")] for part in "qkv"]
            ours[name.replace("attn.to_q", "project")] = torch.cat(fused)
        elif "attn.to_" not in name:
            ours[name] = tensor
    if config.grids and config.name == "cnp":
        ours["encoder.0.weight"] = _cosines_first(ours["encoder.0.weight"], config, start=0)
        ours["decoder.net.0.weight"] = _cosines_first(ours["decoder.net.0.weight"], config, start=config.width)
    elif config.grids:
        ours["embed.net.0.weight"] = _cosines_first(ours["embed.net.0.weight"], config, start=0)
    return ours


def _cosines_first(weight: Tensor, config: ModelConfig, start: int) -> Tensor:
    """The published features are [sin, cos] of each input and ours [cos, sin]: the columns change places."""
    columns = list(range(weight.shape[1]))
    for grid in config.grids:
        size = len(grid)
        columns[start : start + 2 * size] = [*range(start + size, start + 2 * size), *range(start, start + size)]
        start += 2 * size
    return weight[:, columns]
