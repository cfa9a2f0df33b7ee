"""The command on a model card trains the same recipe again."""

import shlex
from dataclasses import replace

import pytest

from inctnp.training.command import command_for
from inctnp.training.commands import choose_recipe
from inctnp.training.overrides import override
from inctnp.training.recipe import Recipe, Start
from inctnp.training.recipes import recipe


def typed(command: str) -> Recipe:
    """What the command line makes of it."""
    program, train, setting, *words = shlex.split(command)
    assert (program, train) == ("inctnp", "train")
    pairs = list(zip(words[::2], words[1::2], strict=True))
    options = dict(pairs)
    changes = [value for name, value in pairs if name == "--set"]
    return choose_recipe(setting, options["--model"], options.get("--variant", "fast"), 1.0, None, changes)


@pytest.mark.parametrize(
    "chosen",
    [
        recipe("rbf-64", "inctnp-seq"),
        recipe("tabular", "tnp-d", "compute-equal"),
        recipe("mixed-512", "cnp", "paper", budget=0.25),
        recipe("stations-france", "lbanp"),
        override(recipe("tabular", "inctnp-seq"), ["phases.0.data.context=10,99", "model.prior=false", "seed=3"]),
        choose_recipe("rbf-64", "tnp-d", "fast", 0.5, 7, ["optimisation.rate=0.002"]),
    ],
)
def test_it_leads_back_to_the_recipe(chosen: Recipe) -> None:
    command = command_for(chosen)
    assert command is not None
    assert typed(command) == chosen


def test_the_shortest_form_is_chosen() -> None:
    assert command_for(recipe("rbf-64", "cnp")) == "inctnp train rbf-64 --model cnp"
    assert command_for(recipe("rbf-64", "cnp", "paper")) == "inctnp train rbf-64 --model cnp --variant paper"


def test_a_run_from_other_weights_names_them() -> None:
    chosen = replace(recipe("rbf-64", "cnp"), start=Start(name="rbf-64/cnp", sha256="b"))
    assert command_for(chosen) == "inctnp train rbf-64 --model cnp --from rbf-64/cnp"


def test_a_recipe_of_no_known_setting_has_none() -> None:
    assert command_for(replace(recipe("rbf-64", "cnp"), name="finetune")) is None
