"""Counting steps, and saying what went wrong."""

import math

import pytest
import torch

from inctnp.models.build import build
from inctnp.training.progress import MOST_BAD_STEPS, DivergenceError, Progress, diagnosis, require_progress
from tests.training.conftest import tiny

TASK = tiny().phases[0].data.batch(0)


def test_bad_steps_are_counted_and_left_out_of_the_mean_loss() -> None:
    progress = Progress()
    for loss in (1.0, math.nan, math.inf, 3.0):
        progress.add(loss, batches=2)
    assert (progress.step, progress.batches, progress.skipped, progress.bad_in_a_row) == (4, 8, 2, 0)
    assert progress.take_loss() == 2.0
    assert progress.take_loss() == 0.0


def test_a_run_gives_up_only_after_many_bad_steps_in_a_row() -> None:
    model, progress = build(tiny().model), Progress()
    for _ in range(MOST_BAD_STEPS - 1):
        progress.add(math.nan)
    require_progress(progress, model, TASK)
    progress.add(math.nan)
    with pytest.raises(DivergenceError, match="precision=32-true"):
        require_progress(progress, model, TASK)


def test_the_diagnosis_tells_data_weights_and_arithmetic_apart() -> None:
    model = build(tiny().model)
    assert "overflows" in diagnosis(model, TASK)
    with torch.no_grad():
        next(model.parameters()).fill_(torch.nan)
    assert "Weights are not finite (embed" in diagnosis(model, TASK)
    assert "data themselves" in diagnosis(model, TASK.map(lambda tensor: tensor / 0))
