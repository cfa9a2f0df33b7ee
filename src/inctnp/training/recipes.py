"""Every setting of the paper as a recipe, and the `fast` form of each that is meant for CPUs."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from inctnp.errors import ConfigError
from inctnp.generators.gp import GPTasks
from inctnp.generators.kernels import MIXED
from inctnp.generators.stations import station_tasks
from inctnp.generators.tabular_prior import TabularPrior
from inctnp.models.config import NAMES, ModelConfig
from inctnp.tokens.fourier import STATION_WAVELENGTHS
from inctnp.training.choices import pick
from inctnp.training.recipe import Optimisation, Phase, Recipe

VALIDATION_SEED = 1_000_003
TEST_SEED = 2_000_003
"""Seeds of held-out tasks; training counts its seeds from 0. Recipes are chosen on validation tasks only."""

EPOCH = 1000
"""Steps in what the paper calls an epoch, for GPs and stations."""
TABULAR_EPOCH = 256

MATCHED = ("tnp-d", "inctnp")
"""Models the paper also trains for as long as incTNP-Seq takes; `compute-equal` leaves the others as they are."""

DEFAULT_REGRESSOR: Mapping[str, Any] = {"prior": True, "components": 4}
"""The shipped tabular model answers before its first row, and real targets have tails, steps and several modes."""

Variants = dict[str, Recipe]
Setting = Callable[[str], Variants]


def recipe(setting: str, model: str, variant: str = "fast", budget: float = 1.0) -> Recipe:
    """The recipe of a data setting for a model; `budget` scales its steps and stretches the schedule to match.

    >>> recipe("rbf-64", "inctnp-seq", "paper").steps
    200000
    """
    if budget <= 0:
        raise ConfigError(f"The budget is a positive fraction of the recipe's steps, not {budget}.")
    variants = pick(SETTINGS, setting, "setting")(pick({name: name for name in NAMES}, model, "model"))
    chosen = pick(variants, variant, f"variant of {setting}")
    return replace(chosen, steps=max(1, round(chosen.steps * budget)))


def _variants(paper: Recipe, fast: Recipe, matched_steps: int) -> Variants:
    """As published, with the time of incTNP-Seq (`compute-equal`), and for CPUs."""
    equal = replace(paper, steps=matched_steps) if paper.model.name in MATCHED else paper
    return {"fast": fast, "paper": paper, "compute-equal": equal}


def _gp(families: tuple[str, ...], longest: int, epochs: tuple[int, int], rates: Mapping[str, float]) -> Setting:
    """1-D GPs; `epochs` are the paper's and those of compute-equal training."""

    def variants(model: str) -> Variants:
        data = GPTasks(families=families, context=(1, longest))
        paper = Recipe(
            name=f"{'mixed' if len(families) > 1 else families[0]}-{longest}",
            model=ModelConfig(name=model, dim_x=1),
            phases=(Phase(share=1.0, data=data),),
            validation=GPTasks(families=families, context=(1, longest), shared_kernel=False, seed=VALIDATION_SEED),
            steps=epochs[0] * EPOCH,
            optimisation=Optimisation(rate=rates.get(model, 3e-4)),
            precision="32-true",
        )
        fast = replace(
            paper,
            phases=(Phase(share=1.0, data=replace(data, shared_kernel=False, outlook=True)),),
            steps=40 * EPOCH,
            optimisation=Optimisation(rate=1e-3, muon_rate=0.004, schedule="trapezoid", warmup=0.02, floor=0.0),
            precision="bf16-mixed",
        )
        return _variants(paper, fast, epochs[1] * EPOCH)

    return variants


def _tabular(model: str) -> Variants:
    """Synthetic tables; models whose rate the paper does not give take TNP-D's."""
    rate = 5e-3 if model == "inctnp" else 3e-3
    config = ModelConfig(name=model, dim_x=20, std_min=1e-2, latents=128)
    paper = Recipe(
        name="tabular",
        model=config,
        phases=(Phase(share=1.0, data=TabularPrior()),),
        validation=TabularPrior(batch_size=16, seed=VALIDATION_SEED),
        steps=500 * TABULAR_EPOCH,
        optimisation=Optimisation(rate=rate),
        precision="32-true",
    )
    fast = replace(
        paper,
        model=replace(config, **DEFAULT_REGRESSOR) if model == "inctnp-seq" else config,
        # Short contexts are cheap and teach most; batches of long ones hold fewer tasks.
        phases=(Phase(share=1.0, data=TabularPrior(batch_size=16, spread="log-uniform", most_points=4096)),),
        steps=60_000,
        optimisation=Optimisation(rate=1e-3, muon_rate=0.004, schedule="trapezoid", warmup=0.02, floor=0.0),
        precision="bf16-mixed",
    )
    return _variants(paper, fast, 680 * TABULAR_EPOCH)


def _stations(name: str, file: str) -> Setting:
    """Temperatures; the paper gives compute-equal epochs for no station model."""

    def variants(model: str) -> Variants:
        held_out = station_tasks(file, "validation", batch_size=8, seed=VALIDATION_SEED)
        paper = Recipe(
            name=name,
            model=ModelConfig(name=model, dim_x=4, latents=256, grids=STATION_WAVELENGTHS),
            phases=(Phase(share=1.0, data=station_tasks(file, "train")),),
            validation=held_out,
            steps=200 * EPOCH,
            optimisation=Optimisation(rate=5e-4),
            precision="32-true",
        )
        fast = replace(
            paper,
            phases=(Phase(share=1.0, data=station_tasks(file, "train", batch_size=8)),),
            steps=20 * EPOCH,
            optimisation=Optimisation(rate=1e-3, muon_rate=0.004, schedule="trapezoid", warmup=0.02, floor=0.0),
            precision="bf16-mixed",
        )
        return _variants(paper, fast, paper.steps)

    return variants


SETTINGS: dict[str, Setting] = {
    "rbf-64": _gp(("rbf",), 64, (200, 220), {}),
    "rbf-512": _gp(("rbf",), 512, (200, 250), {"tnp-d": 1e-4}),
    "mixed-64": _gp(MIXED, 64, (400, 440), {"inctnp-seq": 1e-3, "inctnp-prior": 1e-3}),
    "mixed-512": _gp(MIXED, 512, (400, 500), {"inctnp": 5e-4, "inctnp-seq": 5e-4, "inctnp-prior": 5e-4}),
    "tabular": _tabular,
    "stations": _stations("stations", "hadisd"),
    "stations-cities": _stations("stations-cities", "gsod-cities"),
    "stations-france": _stations("stations-france", "synop-france"),
}
"""Data settings, each giving the variants of its recipe for a model."""
