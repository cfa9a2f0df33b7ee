"""Beginning with weights that were trained before, instead of fresh ones."""

from dataclasses import replace

from inctnp.errors import ConfigError
from inctnp.models.base import NeuralProcess
from inctnp.pretrained.registry import described, load
from inctnp.pretrained.weights import weights_hash
from inctnp.training.recipe import Recipe, Start


def start_from(recipe: Recipe, name: str) -> Recipe:
    """The recipe, begun with the weights of a model that ships or was saved.

    Give it another seed than those weights were trained with, or it learns from the same tasks again.
    """
    model = load(name).float()
    if model.config != recipe.model:
        raise ConfigError(
            f"{name} is {model.config}, and the recipe trains {recipe.model}: weights go on in a model like theirs."
        )
    seeds = {phase.data.seed for phase in recipe.phases}
    if used := seeds & set(described(name).get("seeds", ())):
        raise ConfigError(f"{name} was trained on the tasks of seed {min(used)}: choose another one with --seed.")
    return replace(recipe, start=start(name, model))


def start(name: str, model: NeuralProcess) -> Start:
    """These weights, and what was spent on them before."""
    about = described(name)
    return Start(
        name=name,
        sha256=weights_hash(model),
        steps=about.get("steps", 0),
        cpu_hours=about.get("cpu_hours", 0.0),
        seeds=tuple(about.get("seeds", ())),
    )
