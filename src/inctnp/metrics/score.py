"""A number and how far it can be trusted."""

import math
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Score:
    """A mean over tasks with the standard error of that mean; one task has no standard error (NaN).

    The error takes tasks as independent. Those that share a kernel are less so, and spread the error over batches.

    >>> import torch
    >>> mean_over_tasks(torch.tensor([1.0, 3.0]))
    Score(mean=2.0, sem=1.0, tasks=2)
    """

    mean: float
    sem: float
    tasks: int


def mean_over_tasks(values: Tensor) -> Score:
    """Mean and standard error of one number per task, in float64."""
    values = values.detach().double().flatten()
    sem = values.std().item() / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Score(values.mean().item(), sem, len(values))
