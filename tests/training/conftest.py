"""Runs small enough for a test."""

from collections.abc import Callable
from pathlib import Path

import pytest

from inctnp.training.loop import Training
from inctnp.training.overrides import override
from inctnp.training.recipe import Recipe
from inctnp.training.recipes import recipe

TINY = ["model.width=16", "model.heads=2", "model.layers=1", "model.latents=3", "validation_batches=2"]
SMALL_TASKS = ["context=2,8", "targets=6", "batch_size=3"]
TIMES = ("seconds", "cpu_seconds", "steps_per_second")


def tiny(*changes: str, model: str = "inctnp-seq", setting: str = "rbf-64", variant: str = "fast") -> Recipe:
    """A recipe reduced to milliseconds a step."""
    data = [f"{where}.{size}" for where in ("phases.*.data", "validation") for size in SMALL_TASKS]
    return override(recipe(setting, model, variant), [*TINY, *data, "steps=12", *changes])


def without_times(row: dict[str, float]) -> dict[str, float]:
    """What two equal runs agree on."""
    return {name: value for name, value in row.items() if name not in TIMES}


@pytest.fixture
def training(tmp_path: Path) -> Callable[..., Training]:
    """A run below the test's own folder."""

    def make(chosen: Recipe, name: str = "run", **settings: object) -> Training:
        return Training(recipe=chosen, directory=tmp_path / name, **{"every": 4, **settings})

    return make
