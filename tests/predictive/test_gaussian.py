"""The Gaussian and the head, against scipy and quadrature."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats
from torch import nn

from inctnp.errors import ConfigError
from inctnp.predictive.gaussian import Decoder, Gaussian, outputs_per_token

MEANS = torch.tensor([-1.5, 0.0, 3.0], dtype=torch.float64)
STDS = torch.tensor([0.2, 1.0, 4.0], dtype=torch.float64)
P = Gaussian(MEANS, STDS)
FROZEN = stats.norm(MEANS.numpy(), STDS.numpy())
VALUES = torch.tensor([-1.4, 0.7, -6.0], dtype=torch.float64)


def close(actual: torch.Tensor, expected: object, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(actual.numpy(), expected, rtol=0, atol=tolerance)


def test_density_cdf_quantile_and_moments_are_scipys() -> None:
    close(P.log_prob(VALUES), FROZEN.logpdf(VALUES.numpy()))
    close(P.cdf(VALUES), FROZEN.cdf(VALUES.numpy()))
    for level in (1e-6, 0.025, 0.5, 0.9):
        close(P.quantile(level), FROZEN.ppf(level), 1e-9)
    close(P.mean, FROZEN.mean())
    close(P.variance, FROZEN.var())
    close(P.stddev, FROZEN.std())


def test_the_interval_holds_its_probability() -> None:
    low, high = P.interval(0.8)
    close(P.cdf(high) - P.cdf(low), 0.8, 1e-9)
    close(P.cdf(low), 0.1, 1e-9)


def test_crps_is_the_integral_of_the_squared_distance_of_distribution_functions() -> None:
    for i, (mean, std, y) in enumerate(zip(MEANS.tolist(), STDS.tolist(), VALUES.tolist(), strict=True)):
        cdf = stats.norm(mean, std).cdf
        below, _ = integrate.quad(lambda z, cdf=cdf: cdf(z) ** 2, -60, y, limit=200, points=[mean] if mean < y else [])
        above, _ = integrate.quad(lambda z, cdf=cdf: (1 - cdf(z)) ** 2, y, 60, limit=200, points=[mean])
        assert P.crps(VALUES)[i].item() == pytest.approx(below + above, abs=1e-6)


def test_draws_have_the_moments_and_repeat_under_one_generator() -> None:
    many = Gaussian(MEANS.expand(200_000, 3), STDS.expand(200_000, 3))
    draws = many.sample(torch.Generator().manual_seed(1))
    assert ((draws.mean(0) - MEANS).abs() < 5 * STDS / math.sqrt(200_000)).all()
    assert ((draws.std(0) / STDS - 1).abs() < 0.01).all()
    assert torch.equal(draws, many.sample(torch.Generator().manual_seed(1)))
    assert stats.kstest(((draws - MEANS) / STDS).flatten().numpy()[:5000], "norm").pvalue > 1e-3


def test_affine_and_reshape_keep_the_distribution() -> None:
    moved = P.affine(shift=2.0, scale=3.0)
    close(moved.log_prob(2 + 3 * VALUES), P.log_prob(VALUES).numpy() - math.log(3))
    close(P.reshape(lambda t: t.unsqueeze(0)).cdf(VALUES.unsqueeze(0)), P.cdf(VALUES).unsqueeze(0).numpy())


@pytest.mark.parametrize("level", [-0.1, 1.1, float("nan")])
def test_a_level_that_is_no_probability_is_refused(level: float) -> None:
    with pytest.raises(ConfigError, match="between 0 and 1"):
        P.quantile(level)


def head(components: int = 1, dim_y: int = 1, std_min: float = 0.0) -> Decoder:
    return Decoder(nn.Sequential(nn.Identity()), dim_y, components, std_min)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("raw", [0.0, -1e2, 1e2, -1e4, 1e4, -1e30, 1e30])
def test_no_raw_output_makes_a_zero_deviation_or_a_nan_gradient(
    raw: float, components: int, dtype: torch.dtype
) -> None:
    """In particular where softplus underflows to zero, whose square root has no finite slope."""
    size = outputs_per_token(1, components)
    for where in range(size):
        token = torch.zeros(2, size, dtype=dtype)
        token[:, where] = raw
        token.requires_grad_()
        p = head(components)(token)
        assert (p.components()[2] > 0).all() and torch.isfinite(p.components()[2]).all()
        p.log_prob(torch.tensor([[0.3], [-2.0]], dtype=dtype)).sum().backward()
        assert not torch.isnan(token.grad).any(), f"raw output {where}"


def test_the_deviation_is_the_floor_plus_the_root_of_softplus() -> None:
    raw = torch.linspace(-5, 5, 11, dtype=torch.float64)
    p = head(std_min=0.01)(torch.stack([torch.zeros_like(raw), raw], dim=-1))
    close(p.stddev[:, 0], 0.01 + np.sqrt(np.log1p(np.exp(raw.numpy()))))


def test_two_outputs_are_means_then_deviations() -> None:
    p = head(dim_y=2)(torch.tensor([[1.0, 2.0, 0.0, 100.0]], dtype=torch.float64))
    assert p.mean.tolist() == [[1.0, 2.0]]
    close(p.stddev, [[math.sqrt(math.log(2)), 10.0]])


def test_a_mixture_head_reads_weights_then_means_then_deviations() -> None:
    tokens = torch.randn(5, outputs_per_token(2, 3), dtype=torch.float64)
    p = head(components=3, dim_y=2)(tokens)
    log_weights, means, stds = p.components()
    for k in range(3):
        close(means[k], tokens[:, 6 + 2 * k : 8 + 2 * k].numpy())
        close(stds[k], np.sqrt(np.log1p(np.exp(tokens[:, 12 + 2 * k : 14 + 2 * k].numpy()))))
    logits = tokens[:, :6].view(5, 3, 2).movedim(1, 0)
    close(log_weights, torch.log_softmax(logits, 0).numpy())
    close(log_weights.exp().sum(0), 1.0)


def test_a_network_in_half_precision_still_gives_densities_in_float32() -> None:
    assert head()(torch.zeros(3, 2, dtype=torch.bfloat16)).mean.dtype == torch.float32


@pytest.mark.parametrize("settings", [{"components": 0}, {"std_min": -1.0}])
def test_impossible_heads_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="components"):
        head(**settings)
