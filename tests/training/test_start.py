"""Runs that go on from weights trained before."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import inctnp
from inctnp.errors import ConfigError, UnknownNameError
from inctnp.pretrained.weights import weights_hash
from inctnp.training.command import command_for
from inctnp.training.export import export
from inctnp.training.loop import Training, fresh_model
from inctnp.training.start import start_from
from tests.training.conftest import tiny

Make = Callable[..., Training]
OTHER_TASKS = "phases.*.data.seed=7"


def exported(training: Make, to: Path) -> str:
    run = training(tiny())
    run.run()
    export(run.directory, to, batches=1)
    return str(to)


def test_a_run_begins_with_the_weights_it_names(training: Make, tmp_path: Path) -> None:
    name = exported(training, tmp_path / "first")
    chosen = start_from(tiny(OTHER_TASKS), name)
    first, fresh = inctnp.load(name), fresh_model(chosen)
    assert weights_hash(fresh) == weights_hash(first)
    moved = training(chosen, "second").run()
    assert weights_hash(moved) != weights_hash(first)


def test_what_was_spent_adds_up_over_the_runs(training: Make, tmp_path: Path) -> None:
    name = exported(training, tmp_path / "first")
    run = training(start_from(tiny(OTHER_TASKS, "steps=5"), name), "second")
    run.run()
    about = export(run.directory, tmp_path / "second", batches=1)
    assert (about["steps"], about["steps_planned"], about["seeds"]) == (17, 17, [0, 7])
    assert about["began_with"] == name
    assert f"--from {name}" in about["command"]
    card = (tmp_path / "second" / "card.md").read_text()
    assert f"| began with | {name} |" in card
    assert "| steps | 17 |" in card


def test_the_printed_command_leads_back_to_the_run(training: Make, tmp_path: Path) -> None:
    name = exported(training, tmp_path / "first")
    plain = tiny(OTHER_TASKS)
    assert command_for(start_from(plain, name)) == f"{command_for(plain)} --from {name}"


def test_the_tasks_of_the_earlier_run_are_not_learned_twice(training: Make, tmp_path: Path) -> None:
    name = exported(training, tmp_path / "first")
    with pytest.raises(ConfigError, match="seed 0: choose another one with --seed"):
        start_from(tiny(), name)


def test_weights_of_another_model_are_refused(training: Make, tmp_path: Path) -> None:
    name = exported(training, tmp_path / "first")
    with pytest.raises(ConfigError, match="tnp-d"):
        start_from(tiny(OTHER_TASKS, model="tnp-d"), name)
    with pytest.raises(UnknownNameError, match="rbf-65"):
        start_from(tiny(OTHER_TASKS), "rbf-65/inctnp-seq")


def test_a_resumed_run_needs_the_earlier_weights_no_more(training: Make, tmp_path: Path) -> None:
    name = exported(training, tmp_path / "first")
    chosen = start_from(tiny(OTHER_TASKS), name)
    whole = training(chosen, "whole").run()
    training(chosen, "pieces").run(5)
    for file in (tmp_path / "first").iterdir():
        file.unlink()
    pieces = training(chosen, "pieces").run()
    for a, b in zip(whole.parameters(), pieces.parameters(), strict=True):
        assert torch.equal(a, b)
