import numpy as np
import pytest
import torch

from inctnp.baselines.exact_gp import ExactGP
from inctnp.errors import ConfigError
from inctnp.generators.gp import GPTasks
from inctnp.metrics.target_order import target_order_sensitivity
from inctnp.streaming.recompute import joint_log_prob_step_by_step
from inctnp.testing.toy import toy_model
from tests.metrics.conftest import rng, toy_task


def test_an_exact_process_does_not_mind() -> None:
    task = GPTasks(batch_size=3, context=(4, 4), targets=6).batch(0)
    result = target_order_sensitivity(ExactGP(kernel=task.truth.kernel, noise=task.truth.noise), [task], 5, rng())
    assert result.stddev.mean < 1e-9
    assert result.mean.mean == pytest.approx((task.truth.joint_log_prob(task) / 6).mean().item(), rel=1e-9)


@torch.no_grad()
def test_it_is_the_deviation_of_densities_scored_step_by_step() -> None:
    model = toy_model("tnp-d", layers=1)
    task = toy_task(model, 3, 4, batch=(2,))
    result = target_order_sensitivity(model, [task], 5, rng(1))
    keys = torch.rand(5, 2, 4, generator=rng(1)).argsort(dim=-1)
    densities = np.empty((5, 2))
    for k in range(5):
        for row in range(2):
            x, y = task.xt[row, keys[k, row]], task.yt[row, keys[k, row]]
            densities[k, row] = joint_log_prob_step_by_step(model, task.xc[row], task.yc[row], x, y).item() / 4
    np.testing.assert_allclose(result.stddev.mean, densities.std(axis=0, ddof=1).mean(), rtol=1e-8)
    np.testing.assert_allclose(result.mean.mean, densities.mean(), rtol=1e-9)
    assert result.stddev.mean > 1e-3


def test_one_order_has_no_deviation() -> None:
    model = toy_model("inctnp")
    with pytest.raises(ConfigError):
        target_order_sensitivity(model, [toy_task(model, 3, 2)], 1, rng())
