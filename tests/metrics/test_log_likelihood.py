import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from inctnp.errors import DataError
from inctnp.generators.gp import GPTasks
from inctnp.metrics.log_likelihood import (
    FACTORISED,
    JOINT,
    averaged_over_unrolls,
    gap_to_optimum,
    log_likelihood,
    random_target_order,
    scores_per_task,
)
from inctnp.metrics.predictor import unrolled
from inctnp.metrics.score import mean_over_tasks
from inctnp.models.order_averaged import OrderAveraged
from inctnp.testing.toy import toy_model
from tests.metrics.conftest import rng, soft_model, toy_task


@torch.no_grad()
def by_hand(model: Any, task: Any, row: int, streamed: bool) -> float:
    """One task alone, one target at a time, densities by scipy."""
    x, y, total = task.xc[row], task.yc[row], 0.0
    for i in range(task.xt.shape[-2]):
        p = model.query(model.extend(model.empty(), x, y), task.xt[row, i : i + 1])
        total += stats.norm(p.mean.item(), p.stddev.item()).logpdf(task.yt[row, i].item())
        if streamed:
            x, y = torch.cat([x, task.xt[row, i : i + 1]]), torch.cat([y, task.yt[row, i : i + 1]])
    return total / task.xt.shape[-2]


@pytest.mark.parametrize(("deployment", "streamed"), [(FACTORISED, False), (JOINT, True)])
def test_scores_are_those_by_hand(small: Any, deployment: Any, streamed: bool) -> None:
    tasks = [toy_task(small, 4, 3, seed=1), toy_task(small, 2, 5, batch=(3,), seed=7)]
    expected = [by_hand(small, task, row, streamed) for task in tasks for row in range(len(task.xc))]
    score = log_likelihood(small, iter(tasks), deployment)
    assert score.tasks == 5
    np.testing.assert_allclose(score.mean, np.mean(expected), rtol=1e-10)
    np.testing.assert_allclose(score.sem, np.std(expected, ddof=1) / math.sqrt(5), rtol=1e-10)


def test_one_task_has_no_standard_error() -> None:
    assert math.isnan(mean_over_tasks(torch.tensor([2.0])).sem)


def test_the_gap_is_paired_and_measured_against_the_true_process() -> None:
    model = toy_model("inctnp", dim_x=1)
    tasks = [GPTasks(batch_size=3, context=(4, 4), targets=5, seed=s).batch(0).map(torch.Tensor.double) for s in (0, 1)]
    for deployment, best in (
        (FACTORISED, torch.cat([t.truth.factorised_log_prob(t).mean(-1) for t in tasks])),
        (JOINT, torch.cat([t.truth.joint_log_prob(t) / 5 for t in tasks])),
    ):
        ours = scores_per_task(model, tasks, deployment)
        gap = gap_to_optimum(model, tasks, deployment)
        each = (best - ours).numpy()
        np.testing.assert_allclose([gap.gap.mean, gap.gap.sem], [each.mean(), each.std(ddof=1) / math.sqrt(6)])
        np.testing.assert_allclose(gap.optimum.mean - gap.model.mean, gap.gap.mean)
        assert gap.gap.mean > 0


def test_a_task_without_its_process_has_no_gap() -> None:
    model = toy_model("inctnp")
    with pytest.raises(DataError, match="no optimum"):
        gap_to_optimum(model, [toy_task(model, 3, 2)])


def test_a_random_target_order_scores_some_order_of_the_targets() -> None:
    model = toy_model("inctnp")
    task = toy_task(model, 3, 3, batch=(1,))
    every = set()
    for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        permuted = type(task)(xc=task.xc, yc=task.yc, xt=task.xt[:, order], yt=task.yt[:, order])
        every.add(round(log_likelihood(model, [permuted], JOINT).mean, 9))
    found = {round(log_likelihood(model, [task], random_target_order(rng(s))).mean, 9) for s in range(12)}
    assert len(every) == 6
    assert found <= every and len(found) > 2


def test_unrolls_are_scored_by_their_mixture() -> None:
    model = soft_model("tnp-a")
    task = toy_task(model, 3, 2, batch=(1,))
    score = log_likelihood(model, [task], averaged_over_unrolls(unrolled(7, rng(3))))
    context = model.extend(model.empty((1,)), task.xc, task.yc)
    _, means, stds = model.joint_sample(context, task.xt, 7, generator=rng(3)).components()
    densities = stats.norm(means.detach().numpy(), stds.detach().numpy()).pdf(task.yt.numpy())
    np.testing.assert_allclose(score.mean, np.log(densities.mean(axis=0)).mean(), rtol=1e-10)


def test_whatever_conditions_and_predicts_can_be_scored() -> None:
    averaged = OrderAveraged(toy_model("inctnp"), orders=3, generator=rng())
    assert math.isfinite(log_likelihood(averaged, [toy_task(averaged.model, 4, 3)]).mean)
