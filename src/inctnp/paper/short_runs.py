"""Training runs that are part of a measurement: kept in the user's cache, so that one goes on where it stopped."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from inctnp.models.base import NeuralProcess
from inctnp.training.loop import Training
from inctnp.training.recipe import Optimisation, Phase, Recipe
from inctnp.training.recipes import recipe
from inctnp.training.run_directory import RunDirectory, run_directory


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """What is smaller than in the paper's training: its steps, its network, its tasks."""

    steps: int = 0
    """0 leaves the recipe's."""
    network: Mapping[str, Any] = field(default_factory=dict)
    tasks: Mapping[str, Any] = field(default_factory=dict)


NOT_REDUCED = Reduction()


def reduced_recipe(setting: str, model: str, reduction: Reduction, rate: float, schedule: str) -> Recipe:
    """The paper's recipe at this rate and schedule, made smaller."""
    whole = recipe(setting, model, "paper")
    data = replace(whole.phases[0].data, **reduction.tasks)
    return replace(
        whole,
        model=replace(whole.model, **reduction.network),
        phases=(Phase(share=1.0, data=data),),
        validation=replace(whole.validation, **reduction.tasks),
        validation_batches=1,
        steps=reduction.steps or whole.steps,
        optimisation=Optimisation(rate=rate, schedule=schedule),
    )


def folder_of(chosen: Recipe) -> RunDirectory:
    """Where the run is kept while it is not finished."""
    return run_directory(chosen.name, "artefact", chosen)


def trained(chosen: Recipe, steps: int) -> NeuralProcess:
    """The model after so many steps, trained from where the run stands; Ctrl-C ends the command as it should."""
    folder = folder_of(chosen)
    if folder.step() > steps:
        folder.set_aside()  # a checkpoint cannot be taken back
    training = Training(recipe=chosen, directory=folder.path, every=chosen.steps)
    model = training.run(steps)
    if training.stopped_by:
        raise KeyboardInterrupt
    return model.eval()
