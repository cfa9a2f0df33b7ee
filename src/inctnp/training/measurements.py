"""What can be measured of a model while it trains."""

from dataclasses import replace

from inctnp.metrics.gradient_noise import gradient_noise
from inctnp.models.base import NeuralProcess
from inctnp.training.progress import Measurement
from inctnp.training.recipe import Recipe

GNSR_SEED = 3_000_003
"""Of the fixed batches: they are neither trained nor validated on."""


def gnsr(recipe: Recipe, every: int, batches: int = 16) -> Measurement:
    """The gradient noise-to-signal ratio on batches of the kind the run ends with.  (Fig. 13)

    The paper takes 5000 batches per checkpoint; a few show the trend for the price of as many steps.
    """
    source = replace(recipe.phases[-1].data, seed=GNSR_SEED)

    def take(model: NeuralProcess) -> float:
        return gradient_noise(model, (source.batch(i) for i in range(batches))).ratio

    return Measurement("gnsr", every, take)
