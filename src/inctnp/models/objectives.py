"""What the models are trained on: mean negative log-density per output of what they predict."""

from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from inctnp.task import Task

if TYPE_CHECKING:
    from inctnp.models.base import NeuralProcess
    from inctnp.models.inc_tnp import IncTNP


def target_nll(model: "NeuralProcess", task: Task) -> Float[Tensor, ""]:
    """Each target from the whole context: the usual objective of neural processes."""
    context = model.extend(model.empty(task.batch), task.xc, task.yc)
    return -model.query(context, task.xt).log_prob(task.yt).mean()


def joint_nll(model: "NeuralProcess", task: Task) -> Float[Tensor, ""]:
    """Each target from the context and the true targets before it: TNP-A's objective."""
    context = model.extend(model.empty(task.batch), task.xc, task.yc)
    return -model.conditionals(context, task.xt, task.yt).log_prob(task.yt).mean()


def prefix_nll(model: "IncTNP", task: Task) -> Float[Tensor, ""]:
    """Every point of the sequence from all points before it, in one pass.  (Eq. 4)"""
    x, y = task.as_sequence()
    predicted = model.dense(x, y)
    return -predicted.log_prob(y[..., -predicted.mean.shape[-2] :, :]).mean()
