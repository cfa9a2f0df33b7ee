"""Every setting of the paper as a recipe, and the `fast` form of each that is meant for CPUs."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from inctnp.errors import UnknownNameError
from inctnp.generators.gp import GPTasks
from inctnp.generators.kernels import MIXED
from inctnp.models.config import NAMES, ModelConfig
from inctnp.training.recipe import Optimisation, Phase, Recipe

VALIDATION_SEED = 1_000_003
TEST_SEED = 2_000_003
"""Seeds of held-out tasks; training counts its seeds from 0. Recipes are chosen on validation tasks only."""

EPOCH = 1000
"""Steps in what the paper calls an epoch, for GPs and stations."""

Value = TypeVar("Value")


def recipe(setting: str, model: str, variant: str = "fast", budget: float = 1.0) -> Recipe:
    """The recipe of a data setting for a model; `budget` scales its steps and stretches the schedule to match.

    >>> recipe("rbf-64", "inctnp-seq", "paper").steps
    200000
    """
    variants = _find(SETTINGS, setting, "setting")(_find({name: name for name in NAMES}, model, "model"))
    chosen = _find(variants, variant, f"variant of {setting}")
    return replace(chosen, steps=max(1, round(chosen.steps * budget)))


def _gp(setting: str, families: tuple[str, ...], longest: int, epochs: int, rates: Mapping[str, float]) -> "Setting":
    """1-D GPs: as published, with the time of incTNP-Seq (`compute-equal`), and for CPUs."""

    def variants(model: str) -> dict[str, Recipe]:
        data = GPTasks(families=families, context=(1, longest))
        paper = Recipe(
            name=setting,
            model=ModelConfig(name=model, dim_x=1),
            phases=(Phase(share=1.0, data=data),),
            validation=GPTasks(families=families, context=(1, longest), shared_kernel=False, seed=VALIDATION_SEED),
            steps=epochs * EPOCH,
            optimisation=Optimisation(rate=rates.get(model, 3e-4)),
            precision="32-true",
        )
        longer = 1.1 if longest == 64 else 1.25
        fast = replace(
            paper,
            phases=(Phase(share=1.0, data=replace(data, shared_kernel=False)),),
            steps=40 * EPOCH,
            optimisation=Optimisation(rate=1e-3, muon_rate=0.004, schedule="trapezoid", warmup=0.02, floor=0.0),
            precision="bf16-mixed",
        )
        return {"fast": fast, "paper": paper, "compute-equal": replace(paper, steps=round(longer * paper.steps))}

    return variants


Setting = Callable[[str], dict[str, Recipe]]

SETTINGS: dict[str, Setting] = {
    "rbf-64": _gp("rbf-64", ("rbf",), 64, 200, {}),
    "rbf-512": _gp("rbf-512", ("rbf",), 512, 200, {"tnp-d": 1e-4}),
    "mixed-64": _gp("mixed-64", MIXED, 64, 400, {"inctnp-seq": 1e-3, "inctnp-prior": 1e-3}),
    "mixed-512": _gp("mixed-512", MIXED, 512, 400, {"inctnp": 5e-4, "inctnp-seq": 5e-4, "inctnp-prior": 5e-4}),
}
"""Data settings of the paper, each giving the variants of its recipe for a model."""


def _find(table: Mapping[str, Value], name: str, kind: str) -> Value:
    if name in table:
        return table[name]
    near = difflib.get_close_matches(name, table, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise UnknownNameError(f"No {kind} is called {name!r}. {hint}There are: {', '.join(table)}.")
