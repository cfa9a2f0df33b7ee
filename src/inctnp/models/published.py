"""Reads checkpoints of the authors' published code into our models."""

import math
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from inctnp.errors import ConfigError, MissingDataError, StateError, UnknownNameError
from inctnp.models.base import NeuralProcess
from inctnp.models.build import build
from inctnp.models.config import NAMES, ModelConfig

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
SIGNS = {
    "inctnp-seq": r"batched.?causal|inctnp.?seq",
    "inctnp": r"(?<![a-z])causal(?![a-z])|inctnp",
    "tnp-d": r"(?<![a-z])plain(?![a-z])|(?<![a-z])tnp.?d(?![a-z])",
}
"""How the published configurations, or their files, call the models that share their tensors; the first to fit."""


def load_published(path: str | Path, prefix: str = "", **settings: Any) -> NeuralProcess:
    """The model in a published checkpoint, in eval mode and float32.

    The kind of model, its sizes, Fourier grid and noise floor follow from the names and shapes of the tensors and
    from the file's metadata; keywords of `ModelConfig` overrule them. TNP-D, incTNP and incTNP-Seq have the same
    tensors: without metadata that tell, say `name=`.
    """
    _check_settings(settings)
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
    name = settings.get("name") or _name(weights, hint)
    try:
        config = replace(_config(weights, name, settings), **settings)
        model = build(config)
        model.load_state_dict(_translate(weights, config))
    except KeyError as error:
        raise StateError(f"{path} does not fit {name}: it lacks {error}.") from error
    except RuntimeError as error:
        raise StateError(f"{path} does not fit {name}: {error}") from error
    return model.eval()


def _check_settings(settings: Mapping[str, Any]) -> None:
    known = {field.name for field in fields(ModelConfig)}
    if unknown := settings.keys() - known:
        raise ConfigError(f"No model has the settings {sorted(unknown)}: choose from {', '.join(sorted(known))}.")
    if settings.get("name", NAMES[0]) not in NAMES:
        raise UnknownNameError(f"No model is called {settings['name']!r}: choose from {', '.join(NAMES)}.")


def _read(path: Path) -> tuple[dict[str, Tensor], str]:
    """Tensors, and whatever text of the file may say what they are."""
    if not path.is_file():
        raise MissingDataError(f"There is no checkpoint at {path}: give the path of a file.")
    if path.suffix == ".safetensors":
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                return {name: file.get_tensor(name) for name in file.keys()}, " ".join(metadata.values())  # noqa: SIM118
        except SafetensorError as error:
            raise StateError(f"{path} is not a readable safetensors file: {error}") from error
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
        stored = stored.get("state_dict", stored)
    except Exception as error:  # whatever the file can make torch raise
        reason = str(error).partition("\n")[0]
        raise StateError(f"{path} holds no state dict: {reason} Save one, and nothing else, in it.") from error
    return {name: value for name, value in stored.items() if isinstance(value, Tensor)}, path.name


def _config(weights: Mapping[str, Tensor], name: str, settings: Mapping[str, Any]) -> ModelConfig:
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
    return replace(
        config,
        feedforward=weights[STACK + "mhsa_layers.0.ff_block.0.weight"].shape[0],
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
    for name, sign in SIGNS.items():
        if re.search(sign, hint.lower()):
            return name
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
    return f"{prefix}{max(numbers, default=0)}.weight"


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
