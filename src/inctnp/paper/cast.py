"""Which models an artefact runs over: trained ones by name, stand-ins for a smoke test, and why one is missing."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from inctnp.errors import ConfigError, MissingDataError
from inctnp.models.base import NeuralProcess
from inctnp.models.build import build
from inctnp.models.config import ModelConfig
from inctnp.pretrained.registry import HOME
from inctnp.pretrained.weights import CONFIG, config_from, from_pretrained, read_config
from inctnp.training.recipes import recipe

SMALL: Mapping[str, Any] = MappingProxyType({"width": 16, "heads": 2, "feedforward": 16, "layers": 2, "latents": 4})
"""A stand-in's size: fast enough for every test run."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
STAND_IN_STD = 0.1
"""Least standard deviation of a stand-in, so that no score overflows."""


@dataclass(frozen=True, kw_only=True)
class Player:
    """A model as one artefact uses it."""

    model: str
    """Its row of the paper's tables, such as `inctnp-seq`."""
    name: str
    """What it is loaded by, such as `rbf-64/inctnp-seq`."""
    origin: str = ""
    """sha256 of its weights, or how they were made; rows measured with other weights are not reused."""
    config: ModelConfig | None = None
    folder: Path | None = None
    """Where trained weights lie; without one the weights are random."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What is known of its training."""
    blocked: str = ""
    """Why it cannot be run; empty if it can."""

    @property
    def trained(self) -> bool:
        return self.folder is not None

    def load(self) -> NeuralProcess:
        """The model, in eval mode; opened once for neighbouring cells."""
        if self.config is None:
            raise ConfigError(f"{self.name} has no weights to load.")
        return _open(self.folder, self.config, self.origin)


@dataclass(frozen=True, kw_only=True)
class Cast:
    """Where models are looked for."""

    folders: Mapping[str, Path] = field(default_factory=dict)
    """Weights of your own by name, such as `stations/tnp-d`; they go before those that ship."""
    stand_ins: bool = False
    """Let small random models play those that have no weights: for a smoke test of everything else."""
    only: frozenset[str] = frozenset()
    """Models to run; empty for all."""

    def find(self, setting: str, model: str) -> Player:
        """The weights of this model for this kind of data, or why there are none."""
        name = f"{setting}/{model}"
        folder = self.folders.get(name, HOME / name)
        left_out = f"{model} was left out by --models" if self.only and model not in self.only else ""
        if (folder / CONFIG).is_file():
            return self._trained(name, model, folder, left_out)
        if name in self.folders:
            raise MissingDataError(f"{folder} was named as the weights of {name}, but holds no {CONFIG}.")
        if self.stand_ins:
            return dataclasses.replace(self.untrained(setting, model), blocked=left_out)
        missing = (
            f"no trained weights for {setting} (`inctnp train {setting} --model NAME`, `inctnp export`, then "
            f"`--weights {setting}/NAME=FOLDER`)"
        )
        return Player(model=model, name=name, blocked=left_out or missing)

    def untrained(self, setting: str, model: str, **changes: Any) -> Player:
        """Random weights at this kind of data, where only the work matters and not what is predicted."""
        config = dataclasses.replace(recipe(setting, model, "paper").model, **(SMALL if self.stand_ins else {}))
        config = dataclasses.replace(config, **changes)
        config = dataclasses.replace(config, std_min=max(config.std_min, STAND_IN_STD))
        shape = f"{config.width}x{config.layers}"
        blocked = f"{model} was left out by --models" if self.only and model not in self.only else ""
        name = f"{setting}/{model} (random weights)"
        return Player(model=model, name=name, origin=f"random {shape}", config=config, blocked=blocked)

    def baseline(self, model: str) -> Player:
        """A method without weights; its settings belong to the setup of a cell."""
        left_out = f"{model} was left out by --models" if self.only and model not in self.only else ""
        return Player(model=model, name=model, origin="no weights", blocked=left_out)

    def _trained(self, name: str, model: str, folder: Path, left_out: str) -> Player:
        described = read_config(folder)
        config, about = config_from(described["model"]), described.get("about", {})
        facts = {key: about[key] for key in ("recipe", "variant", "steps") if key in about}
        facts |= {"components": config.components} if config.components > 1 else {}
        facts |= {"prior": True} if config.prior else {}
        return Player(
            model=model,
            name=name,
            origin=described["sha256"],
            config=config,
            folder=folder,
            facts=facts,
            blocked=left_out,
        )


@lru_cache(maxsize=2)
def _open(folder: Path | None, config: ModelConfig, origin: str) -> NeuralProcess:
    """`origin` tells weights of different content apart."""
    if folder is not None:
        return from_pretrained(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build(config).eval()
