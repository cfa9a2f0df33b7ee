"""From a run to a model that others can load: weights, settings, measured results and a card."""

import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from inctnp.atomic import write_atomically
from inctnp.errors import ConfigError, MissingDataError, StateError
from inctnp.generators.files import FILES
from inctnp.models.base import NeuralProcess
from inctnp.models.build import build
from inctnp.pretrained.golden import golden
from inctnp.pretrained.weights import config_from, save_pretrained
from inctnp.training.card import CARD, card
from inctnp.training.checkpoint import MODEL, read_checkpoint, under
from inctnp.training.command import command_for
from inctnp.training.plain import from_plain, to_plain
from inctnp.training.recipe import Recipe
from inctnp.training.recipes import TEST_SEED
from inctnp.training.run_directory import RunDirectory
from inctnp.training.validation import Score, Validator

LOG = "training.jsonl"
STORED = ("float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Finished:
    """A run read back from its folder."""

    model: NeuralProcess
    settings: dict[str, Any]
    """The recipe as plain values."""
    progress: dict[str, Any]

    @property
    def recipe(self) -> Recipe:
        """The recipe itself; a clear error where its data were the user's own."""
        return from_plain(Recipe, self.settings)


def read_run(directory: Path) -> Finished:
    """The model of a run as it was last saved."""
    folder = RunDirectory(directory)
    if not folder.checkpoint.exists():
        raise MissingDataError(f"{directory} holds no run: {folder.checkpoint.name} was expected there.")
    header, tensors = read_checkpoint(folder.checkpoint)
    model = build(config_from(header["recipe"]["model"]))
    model.load_state_dict(under(MODEL, tensors))
    return Finished(model.eval(), header["recipe"], header["progress"])


def export(directory: Path, to: Path, *, dtype: str = "float32", batches: int = 64) -> dict[str, Any]:
    """Write config.json, model.safetensors, card.md and the training log; answers what config.json says of the run.

    Results are of fresh held-out tasks, from a seed that neither training nor the choice of recipes has seen.
    """
    if dtype not in STORED:
        raise ConfigError(f"Weights are stored as {', '.join(STORED)}, not {dtype!r}.")
    run = read_run(directory)
    stored = rounded(run.model, dtype)
    about = {**_described(run), **_measured(run, stored, dtype, batches), "golden": golden(stored)}
    save_pretrained(run.model, to, about=about, dtype=None if dtype == "float32" else dtype)
    write_card(run.model, to, about)
    metrics = RunDirectory(directory).metrics
    if metrics.exists():
        write_atomically(to / LOG, lambda part: part.write_bytes(metrics.read_bytes()))
    return about


def write_card(model: NeuralProcess, to: Path, about: dict[str, Any]) -> None:
    """The card beside the weights."""
    text = card(model.config, about)
    write_atomically(to / CARD, lambda part: part.write_text(text, encoding="utf-8"))


def rounded(model: NeuralProcess, dtype: str) -> NeuralProcess:
    """The model as it will be once its weights have been stored in this type."""
    narrow = copy.deepcopy(model)
    with torch.no_grad():
        for weight in narrow.parameters():
            weight.copy_(weight.to(getattr(torch, dtype)))
    return narrow


def _described(run: Finished) -> dict[str, Any]:
    """What the run was; steps, processor hours and seeds count those before it that its weights came from."""
    progress, settings = run.progress, run.settings
    before = settings.get("start") or {}
    cpu_hours = progress.get("cpu_seconds", progress["seconds"]) / 3600 + before.get("cpu_hours", 0.0)
    seeds = {phase["data"]["seed"] for phase in settings["phases"]} | set(before.get("seeds", ()))
    return {
        "recipe": settings["name"],
        "began_with": before.get("name"),
        "steps": before.get("steps", 0) + progress["step"],
        "steps_planned": before.get("steps", 0) + settings["steps"],
        "cpu_hours": round(cpu_hours, 3),
        "seeds": sorted(seeds),
        "skipped_steps": progress["skipped"],
        "settings": settings,
        "data": [phase["data"]["source"] for phase in settings["phases"]],
        "data_licence": data_licence(settings["phases"][0]["data"]),
    }


def _measured(run: Finished, stored: NeuralProcess, dtype: str, batches: int) -> dict[str, Any]:
    """Results on held-out tasks, of the weights as they are stored, and what storing them so cost."""
    try:
        recipe = run.recipe
    except StateError:
        return {"stored_as": dtype}  # its tasks came from the user's own data, which are not kept
    # Inputs and outputs of a station model mean nothing without the statistics they were scaled by.
    scaling = getattr(recipe.phases[0].data, "fitted", None)
    validator = Validator(replace(recipe.validation, seed=TEST_SEED), batches)
    score = validator.score(stored)
    change = score.log_likelihood - validator.score(run.model).log_likelihood if dtype != "float32" else 0.0
    return {
        "config_hash": recipe.hash,
        "command": command_for(recipe),
        **({"scaling": to_plain(scaling)} if scaling else {}),
        "held_out": {**_known(score), "tasks": batches * recipe.validation.batch_size, "seed": TEST_SEED},
        "stored_as": dtype,
        "change_by_storing": round(change, 6),
    }


def _known(score: Score) -> dict[str, float]:
    return {name: round(value, 5) for name, value in vars(score).items() if value is not None}


def data_licence(source: dict[str, Any]) -> str | None:
    """The terms of the data files behind a source; None for synthetic tasks."""
    path = source.get("file", {}).get("path", "")
    return FILES[path].licence if path in FILES else ("see its provider" if path else None)
