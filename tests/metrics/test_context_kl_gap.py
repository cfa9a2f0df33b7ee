import math
from itertools import permutations

import numpy as np
import pytest
import torch
from scipy import stats

from inctnp.baselines.exact_gp import ExactGP
from inctnp.errors import ConfigError
from inctnp.generators.gp import GPTasks
from inctnp.metrics.context_kl_gap import ContextKLGapSettings, context_kl_gap, context_kl_gap_per_task
from inctnp.metrics.orders import all_orders
from inctnp.metrics.predictor import unrolled
from inctnp.testing.toy import toy_model
from tests.metrics.conftest import rng, soft_model, toy_task

FEW = ContextKLGapSettings(orders=6, draws=8)


@pytest.mark.parametrize("name", ["cnp", "tnp-d", "lbanp"])
def test_sets_have_no_gap(name: str) -> None:
    model = toy_model(name)
    result = context_kl_gap(model, [toy_task(model, 5, 4)], FEW, rng())
    assert abs(result.gap.mean) < 1e-10
    assert result.nll.mean == pytest.approx(result.invariant_nll.mean, rel=1e-10)
    assert result.nll_gap is None


@pytest.mark.parametrize("name", ["inctnp", "inctnp-seq", "inctnp-prior"])
def test_sequences_have_one(name: str) -> None:
    model = toy_model(name)
    assert (
        context_kl_gap(model, [toy_task(model, 5, 4)], ContextKLGapSettings(orders=30, draws=50), rng()).gap.mean > 0.01
    )


def test_over_all_orders_it_is_the_divergence_by_quadrature() -> None:
    """Two targets, three context points: KL of a product of two normals from a mixture of six, on a fine grid."""
    model = soft_model("inctnp")
    task = toy_task(model, 3, 2, batch=(1,))
    laws = []
    for order in permutations(range(3)):
        with torch.no_grad():
            p = model.query(model.extend(model.empty(), task.xc[0, list(order)], task.yc[0, list(order)]), task.xt[0])
        laws.append([stats.norm(m, s) for m, s in zip(p.mean[:, 0].tolist(), p.stddev[:, 0].tolist(), strict=True)])
    axes = [np.linspace(law.mean() - 9 * law.std(), law.mean() + 9 * law.std(), 801) for law in laws[0]]
    y1, y2 = np.meshgrid(*axes, indexing="ij")
    q, *_ = densities = [first.pdf(y1) * second.pdf(y2) for first, second in laws]
    cell = np.prod([axis[1] - axis[0] for axis in axes])
    exact = (q * np.log(q / np.mean(densities, axis=0))).sum() * cell
    orders = all_orders(task.xc.shape[:-1])
    with torch.no_grad():
        gap, nll, invariant = context_kl_gap_per_task(model, task, orders, 20_000, rng())
    truth = [
        law.pdf(y) for law, y in zip(zip(*laws, strict=True), task.yt[0, :, 0].tolist(), strict=True) for law in law
    ]
    assert exact > 0.005
    assert gap.item() == pytest.approx(exact, abs=0.03 * math.sqrt(exact))
    assert nll.item() == pytest.approx(-math.log(truth[0] * truth[6]), rel=1e-9)
    assert invariant.item() == pytest.approx(-math.log(np.mean(np.multiply(truth[:6], truth[6:]))), rel=1e-9)


def test_the_true_process_leaves_no_likelihood_on_the_table() -> None:
    task = GPTasks(batch_size=3, context=(6, 6), targets=4).batch(0)
    result = context_kl_gap(ExactGP(kernel=task.truth.kernel, noise=task.truth.noise), [task], FEW, rng())
    assert result.nll_gap is not None and result.invariant_nll_gap is not None
    assert abs(result.gap.mean) < 1e-9
    assert abs(result.nll_gap.mean) < 1e-9
    assert abs(result.invariant_nll_gap.mean) < 1e-9


def test_more_unrolls_leave_less_noise() -> None:
    """TNP-A encodes a set, so what gap it has comes from its draws."""
    model = toy_model("tnp-a", layers=1)
    task = toy_task(model, 3, 3, batch=(4,))
    settings = ContextKLGapSettings(orders=12, draws=40)
    few, many = (context_kl_gap(model, [task], settings, rng(), unrolled(s, rng(1))).gap.mean for s in (2, 40))
    assert few > 2 * many > 0


def test_no_orders_are_refused() -> None:
    with pytest.raises(ConfigError):
        ContextKLGapSettings(draws=0)
