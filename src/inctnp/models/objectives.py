"""What the models are trained on: mean negative log-density per output of what they predict."""

from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from inctnp.predictive.base import Predictive
from inctnp.task import Task

if TYPE_CHECKING:
    from inctnp.models.base import NeuralProcess
    from inctnp.models.inc_tnp import IncTNP


def target_nll(model: "NeuralProcess", task: Task) -> Float[Tensor, ""]:
    """Each target from the whole context: the usual objective of neural processes."""
    context = model.extend(model.empty(task.batch), task.xc, task.yc)
    predicted = model.query(context, task.xt)
    if task.outlook:
        return expected_nll(predicted, task.outlook.mean, task.outlook.std)
    return -predicted.log_prob(task.yt).mean()


def joint_nll(model: "NeuralProcess", task: Task) -> Float[Tensor, ""]:
    """Each target from the context and the true targets before it: TNP-A's objective."""
    context = model.extend(model.empty(task.batch), task.xc, task.yc)
    return _step_nll(model.conditionals(context, task.xt, task.yt), task)


def prefix_nll(model: "IncTNP", task: Task) -> Float[Tensor, ""]:
    """Every point of the sequence from all points before it, in one pass.  (Eq. 4)"""
    return _step_nll(model.dense(*task.as_sequence()), task)


def expected_nll(predicted: Predictive, mean: Tensor, std: Tensor) -> Float[Tensor, ""]:
    """The mean negative log-density over normal outcomes, of which one draw would be a noisy estimate.

    Two outcomes, a standard deviation to either side, stand for all: exact for a Gaussian predictive, whose log-density
    is quadratic, and close for a mixture.
    """
    return -0.5 * (predicted.log_prob(mean - std) + predicted.log_prob(mean + std)).mean()


def _step_nll(predicted: Predictive, task: Task) -> Float[Tensor, ""]:
    """Of the last points of the sequence, each predicted from those before it."""
    last = slice(-predicted.mean.shape[-2], None)
    if task.outlook:
        return expected_nll(predicted, task.outlook.step_mean[..., last, :], task.outlook.step_std[..., last, :])
    return -predicted.log_prob(task.as_sequence()[1][..., last, :]).mean()
