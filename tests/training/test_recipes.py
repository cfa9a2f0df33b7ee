"""Every recipe of the paper, for every model."""

from pathlib import Path

import pytest

from inctnp.errors import ConfigError, UnknownNameError
from inctnp.generators.stations import StationTasks
from inctnp.models.config import NAMES
from inctnp.training.loop import Training
from inctnp.training.overrides import override
from inctnp.training.plain import from_plain
from inctnp.training.recipe import Recipe
from inctnp.training.recipes import MATCHED, SETTINGS, TEST_SEED, VALIDATION_SEED, recipe
from tests.training.conftest import TINY

VARIANTS = ("fast", "paper", "compute-equal")

EPOCHS = {"rbf-64": (200, 220), "rbf-512": (200, 250), "mixed-64": (400, 440), "mixed-512": (400, 500)}
RATES = {
    ("rbf-64", "tnp-d"): 3e-4,
    ("rbf-64", "inctnp"): 3e-4,
    ("rbf-64", "inctnp-seq"): 3e-4,
    ("rbf-512", "tnp-d"): 1e-4,
    ("rbf-512", "inctnp"): 3e-4,
    ("rbf-512", "inctnp-seq"): 3e-4,
    ("mixed-64", "tnp-d"): 3e-4,
    ("mixed-64", "inctnp"): 3e-4,
    ("mixed-64", "inctnp-seq"): 1e-3,
    ("mixed-512", "tnp-d"): 3e-4,
    ("mixed-512", "inctnp"): 5e-4,
    ("mixed-512", "inctnp-seq"): 5e-4,
    ("tabular", "tnp-d"): 3e-3,
    ("tabular", "inctnp"): 5e-3,
    ("tabular", "inctnp-seq"): 3e-3,
    ("stations", "tnp-d"): 5e-4,
    ("stations-cities", "inctnp-seq"): 5e-4,
}
"""The paper's appendix on optimiser details and on robustness."""


@pytest.mark.parametrize(("setting", "model"), RATES)
def test_published_rates(setting: str, model: str) -> None:
    optimisation = recipe(setting, model, "paper").optimisation
    assert optimisation.rate == RATES[setting, model]
    assert (optimisation.schedule, optimisation.warmup, optimisation.floor) == ("cosine", 0.1, 1e-6)
    assert (optimisation.weight_decay, optimisation.clip, optimisation.muon_rate) == (0.01, 0.5, 0.0)


@pytest.mark.parametrize("setting", EPOCHS)
def test_published_epochs_of_gps(setting: str) -> None:
    paper, equal = EPOCHS[setting]
    assert recipe(setting, "tnp-d", "paper").steps == paper * 1000
    assert recipe(setting, "inctnp", "compute-equal").steps == equal * 1000
    assert recipe(setting, "inctnp-seq", "compute-equal") == recipe(setting, "inctnp-seq", "paper")
    data = recipe(setting, "cnp", "paper").phases[0].data
    assert (data.batch_size, data.targets, data.shared_kernel) == (16, 128, True)


def test_the_published_tabular_recipe() -> None:
    chosen = recipe("tabular", "tnp-d", "paper")
    data = chosen.phases[0].data
    assert (chosen.steps, recipe("tabular", "tnp-d", "compute-equal").steps) == (500 * 256, 680 * 256)
    assert (data.batch_size, data.context, data.targets) == (128, (10, 1024), 128)
    assert (chosen.model.dim_x, chosen.model.std_min, chosen.model.latents) == (20, 1e-2, 128)
    assert not chosen.model.prior


def test_only_the_default_regressor_has_a_prior_and_a_mixture() -> None:
    fast, other = recipe("tabular", "inctnp-seq"), recipe("tabular", "inctnp")
    assert (fast.model.prior, fast.model.components) == (True, 4)
    assert (other.model.prior, other.model.components) == (False, 1)
    assert recipe("tabular", "inctnp-seq", "paper").model.components == 1
    assert fast.phases == other.phases


def test_the_published_station_recipe() -> None:
    chosen = recipe("stations", "lbanp", "paper")
    data = chosen.phases[0].data
    assert (chosen.steps, data.batch_size, data.context, data.targets) == (200_000, 32, (100, 2100), 250)
    assert (data.windows, data.delta, data.part, chosen.validation.part) == (8, 6, "train", "validation")
    assert chosen.model.latents == 256
    assert [len(grid) for grid in chosen.model.grids] == [16] * 4


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("model", NAMES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_recipe_is_found_and_can_be_written_and_read(setting: str, model: str, variant: str) -> None:
    chosen = recipe(setting, model, variant)
    assert (chosen.name, chosen.model.name) == (setting, model)
    assert chosen.validation.seed == VALIDATION_SEED != TEST_SEED
    assert from_plain(Recipe, chosen.as_dict()) == chosen
    assert variant != "compute-equal" or model in MATCHED or chosen == recipe(setting, model, "paper")


@pytest.mark.parametrize("model", NAMES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_recipe_takes_a_step(setting: str, model: str, tmp_path: Path) -> None:
    chosen = override(
        recipe(setting, model), [*TINY, "steps=1", "phases.*.data.batch_size=2", "validation.batch_size=2"]
    )
    skip_without_data(chosen)
    station = isinstance(chosen.validation, StationTasks)
    sizes = ("context=20,30",) if station else ("context=3,6", "targets=5")
    chosen = override(chosen, [f"{where}.{size}" for where in ("phases.*.data", "validation") for size in sizes])
    trained = Training(recipe=chosen, directory=tmp_path).run()
    assert all(weight.grad is not None for weight in trained.parameters())


def skip_without_data(chosen: Recipe) -> None:
    if isinstance(chosen.validation, StationTasks):
        try:
            chosen.validation.file.locate()
        except FileNotFoundError as error:
            pytest.skip(str(error))


def test_the_budget_scales_the_steps() -> None:
    assert recipe("rbf-64", "cnp", "paper", budget=0.01).steps == 2000
    with pytest.raises(ConfigError, match="positive"):
        recipe("rbf-64", "cnp", budget=0)


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [(("rbf-63", "cnp"), "rbf-64"), (("rbf-64", "inctpn"), "inctnp"), (("tabular", "cnp", "papier"), "paper")],
)
def test_unknown_names_are_answered_with_the_nearest(arguments: tuple[str, ...], nearest: str) -> None:
    with pytest.raises(UnknownNameError, match=f"Did you mean '{nearest}'"):
        recipe(*arguments)
