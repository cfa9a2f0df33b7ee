"""What models are trained on, with outcomes that were drawn and with all that could have been."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence

from inctnp.generators.gp import GPTasks
from inctnp.models.build import build
from inctnp.models.config import NAMES, ModelConfig
from inctnp.models.objectives import expected_nll
from inctnp.predictive.gaussian import Gaussian
from inctnp.predictive.mixture import Mixture

SOURCE = GPTasks(batch_size=64, context=(5, 5), targets=6, shared_kernel=False, outlook=True, seed=11)


def test_the_expected_loss_of_a_gaussian_is_its_cross_entropy() -> None:
    mean, std, location, scale = torch.rand(4, 3, 7, 1, dtype=torch.float64) + 0.1
    truth, ours = Normal(mean, std), Normal(location, scale)
    exact = (kl_divergence(truth, ours) + truth.entropy()).mean()
    torch.testing.assert_close(expected_nll(Gaussian(location, scale), mean, std), exact, rtol=1e-12, atol=1e-12)


def test_for_a_mixture_two_outcomes_are_close_to_all_of_them() -> None:
    parts = Mixture(
        torch.tensor([0.3, 0.7]).log().view(2, 1, 1), torch.tensor([[[-0.3]], [[0.4]]]), torch.ones(2, 1, 1)
    )
    mean, std = torch.tensor([[0.2]]), torch.tensor([[0.5]])
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    exact = sum(-w * parts.log_prob(mean + std * z).item() for z, w in zip(nodes, weights, strict=True)) / weights.sum()
    assert expected_nll(parts, mean, std).item() == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize("name", NAMES)
def test_learning_from_the_outlook_is_learning_from_many_draws(name: str) -> None:
    """Both losses estimate the same number; the one without draws has the smaller spread."""
    torch.manual_seed(1)
    model = build(ModelConfig(name=name, dim_x=1, width=16, heads=2, layers=1, latents=4)).eval()
    with torch.no_grad():
        pairs = [(model.objective(replace(t, outlook=None)), model.objective(t)) for t in map(SOURCE.batch, range(40))]
    drawn, expected = torch.tensor(pairs, dtype=torch.float64).unbind(-1)
    difference = drawn - expected
    assert abs(difference.mean()) < 4 * difference.std() / len(pairs) ** 0.5
    assert expected.std() < drawn.std()
