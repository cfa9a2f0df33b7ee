"""From a run to a folder that loads."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import inctnp
from inctnp.errors import ConfigError, MissingDataError
from inctnp.pretrained.weights import weights_hash
from inctnp.training.export import data_licence, export, read_run, rounded
from inctnp.training.loop import Training
from inctnp.training.recipes import TEST_SEED
from inctnp.training.validation import Validator
from tests.training.conftest import tiny

Make = Callable[..., Training]


def test_the_exported_model_is_the_trained_one_with_its_results(training: Make, tmp_path: Path) -> None:
    run = training(tiny())
    trained = run.run()
    about = export(run.directory, tmp_path / "model", batches=3)
    loaded = inctnp.load(str(tmp_path / "model"))
    assert weights_hash(loaded) == weights_hash(trained)
    assert json.loads((tmp_path / "model" / "config.json").read_text())["about"] == json.loads(json.dumps(about))
    fresh = Validator(replace(run.recipe.validation, seed=TEST_SEED), 3).score(trained)
    assert about["held_out"]["log_likelihood"] == pytest.approx(fresh.log_likelihood, abs=1e-5)
    assert about["held_out"]["gap"] == pytest.approx(fresh.gap, abs=1e-5)
    assert (about["steps"], about["config_hash"], about["held_out"]["tasks"]) == (12, run.recipe.hash, 9)
    assert (tmp_path / "model" / "training.jsonl").read_text() == run.folder.metrics.read_text()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_what_narrow_weights_cost_is_measured_on_the_weights_that_are_stored(
    training: Make, tmp_path: Path, dtype: str
) -> None:
    run = training(tiny())
    trained = run.run()
    about = export(run.directory, tmp_path / "model", dtype=dtype, batches=2)
    loaded = inctnp.load(str(tmp_path / "model"))
    validator = Validator(replace(run.recipe.validation, seed=TEST_SEED), 2)
    scores = [validator.score(model).log_likelihood for model in (loaded, trained)]
    assert about["held_out"]["log_likelihood"] == pytest.approx(scores[0], abs=1e-5)
    assert about["change_by_storing"] == pytest.approx(scores[0] - scores[1], abs=1e-6)
    assert abs(about["change_by_storing"]) < 1e-2
    assert weights_hash(rounded(trained, dtype)) == weights_hash(loaded)
    assert (tmp_path / "model" / "model.safetensors").stat().st_size < run.folder.checkpoint.stat().st_size / 4


def test_the_card_says_what_was_measured_and_how_to_repeat_it(training: Make, tmp_path: Path) -> None:
    run = training(tiny("steps=20"))
    run.run(5)
    about = export(run.directory, tmp_path, batches=2)
    card = (tmp_path / "card.md").read_text()
    for part in (
        "# rbf-64/inctnp-seq",
        f"| {about['held_out']['gap']} |",
        f"| config hash | {run.recipe.hash} |",
        "`inctnp train rbf-64 --model inctnp-seq --set ",
        "contexts of 2 to 8 points (its dense objective also asks after up to 5 more)",
        "it has no learned prior",
        "before its end",
        "Apache-2.0",
    ):
        assert part in card
    assert "None" not in card.split("## Settings")[0]


def test_station_models_carry_their_scaling_and_the_terms_of_their_data(training: Make, tmp_path: Path) -> None:
    chosen = tiny(
        "phases.*.data.context=20,30", "validation.context=20,30", "steps=1", setting="stations-france", model="cnp"
    )
    try:
        chosen.validation.file.locate()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    run = training(chosen)
    run.run()
    about = export(run.directory, tmp_path, batches=1)
    assert about["scaling"]["celsius_std"] > 0
    assert about["data_licence"] == "Licence Ouverte (Etalab)"
    assert "Licence Ouverte" in (tmp_path / "card.md").read_text()


def test_unregistered_data_are_not_called_free() -> None:
    assert data_licence({"file": {"path": "own.csv"}}) == "see its provider"
    assert data_licence({"source": "GPTasks"}) is None


def test_a_folder_without_a_run_and_an_unknown_type_are_refused(training: Make, tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="holds no run"):
        export(tmp_path / "nothing", tmp_path / "model")
    with pytest.raises(ConfigError, match="int8"):
        export(tmp_path / "nothing", tmp_path / "model", dtype="int8")


def test_a_run_is_read_in_eval_mode(training: Make) -> None:
    run = training(tiny())
    run.run(2)
    found = read_run(run.directory)
    assert not found.model.training
    assert found.recipe == run.recipe
    assert all(torch.isfinite(weight).all() for weight in found.model.parameters())
