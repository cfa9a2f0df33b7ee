"""How much the gradient changes from batch to batch: the gradient noise-to-signal ratio.  (Fig. 13)"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from inctnp.errors import ConfigError
from inctnp.models.base import NeuralProcess
from inctnp.task import Task


@dataclass(frozen=True)
class GradientNoise:
    """Of one model over a fixed collection of batches."""

    signal: float
    """Squared norm of the mean gradient."""
    noise: float
    """Variance of the batches' gradients around that mean, summed over the weights."""
    batches: int

    @property
    def ratio(self) -> float:
        """The paper's GNSR: noise over signal."""
        return self.noise / self.signal

    @property
    def unbiased_ratio(self) -> float:
        """With the noise left in the mean of so few batches taken out of the signal; infinite if nothing is left.

        >>> GradientNoise(signal=2.0, noise=10.0, batches=10).unbiased_ratio
        10.0
        """
        signal = self.signal - self.noise / self.batches
        return self.noise / signal if signal > 0 else float("inf")


def gradient_noise(model: NeuralProcess, tasks: Iterable[Task]) -> GradientNoise:
    """Gradients of the model's own objective, one per batch; the model and its `.grad` stay as they are.

    The variance divides by one less than the number of batches.
    """
    return noise_of(_gradients(model, tasks))


def noise_of(gradients: Iterable[Tensor]) -> GradientNoise:
    """From flat gradients, read once and never held together.

    >>> noise_of([torch.tensor([1.0, 0.0]), torch.tensor([3.0, 0.0])])
    GradientNoise(signal=4.0, noise=2.0, batches=2)
    """
    count, mean, spread = 0, torch.zeros(()), 0.0
    # Welford's form: subtracting two large sums would leave no digits when the noise is small.
    for gradient in gradients:
        count += 1
        before = gradient.double() - mean
        mean = mean + before / count
        spread += (before @ (gradient.double() - mean)).item()
    if count < 2:
        raise ConfigError(f"The variance between batches takes at least two of them, not {count}.")
    return GradientNoise(signal=(mean @ mean).item(), noise=spread / (count - 1), batches=count)


def _gradients(model: NeuralProcess, tasks: Iterable[Task]) -> Iterator[Tensor]:
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    for task in tasks:
        parts = torch.autograd.grad(model.objective(task), weights, allow_unused=True)
        filled = zip(parts, weights, strict=True)
        yield torch.cat([(torch.zeros_like(w) if g is None else g).flatten() for g, w in filled])
