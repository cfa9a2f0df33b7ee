"""The gradient noise-to-signal ratio against its definition written out."""

import math

import pytest
import torch

from inctnp.errors import ConfigError
from inctnp.generators.gp import GPTasks
from inctnp.metrics.gradient_noise import GradientNoise, gradient_noise, noise_of
from inctnp.models.build import build
from inctnp.models.config import ModelConfig

SOURCE = GPTasks(batch_size=2, context=(2, 6), targets=5)


def small(name: str) -> torch.nn.Module:
    torch.manual_seed(1)
    return build(ModelConfig(name=name, dim_x=1, width=16, heads=2, layers=1))


@pytest.mark.parametrize("name", ["inctnp", "inctnp-seq"])
def test_it_is_the_variance_around_the_mean_over_the_squared_mean(name: str) -> None:
    model, rows = small(name), []
    for i in range(5):
        model.zero_grad()
        model.objective(SOURCE.batch(i)).backward()
        rows.append(torch.cat([weight.grad.flatten() for weight in model.parameters()]).double())
    stacked = torch.stack(rows)
    measured = gradient_noise(model, [SOURCE.batch(i) for i in range(5)])
    assert measured.signal == pytest.approx(stacked.mean(dim=0).square().sum().item(), rel=1e-5)
    assert measured.noise == pytest.approx(stacked.var(dim=0).sum().item(), rel=1e-5)
    assert measured.ratio == pytest.approx(measured.noise / measured.signal)
    assert measured.batches == 5


def test_the_same_batch_again_has_no_noise() -> None:
    measured = gradient_noise(small("inctnp-seq"), [SOURCE.batch(0)] * 4)
    assert measured.noise < 1e-12 * measured.signal


def test_measuring_leaves_the_model_as_it_was() -> None:
    model = small("tnp-d")
    model.objective(SOURCE.batch(9)).backward()
    before = [weight.grad.clone() for weight in model.parameters()]
    gradient_noise(model, [SOURCE.batch(0), SOURCE.batch(1)])
    assert all(weight.grad.equal(kept) for weight, kept in zip(model.parameters(), before, strict=True))


def test_small_noise_on_a_large_signal_keeps_its_digits() -> None:
    rng = torch.Generator().manual_seed(0)
    gradients = [1e4 + torch.randn(1000, generator=rng, dtype=torch.float64) for _ in range(50)]
    assert noise_of(gradients).noise == pytest.approx(torch.stack(gradients).var(dim=0).sum().item(), rel=1e-9)


def test_the_unbiased_ratio_takes_the_noise_of_the_mean_out() -> None:
    rng = torch.Generator().manual_seed(0)
    mean = torch.zeros(400, dtype=torch.float64)
    mean[0] = 10.0
    draws = [noise_of(mean + torch.randn(8, 400, generator=rng, dtype=torch.float64)) for _ in range(200)]
    plain = sum(draw.signal for draw in draws) / 200
    unbiased = sum(draw.signal - draw.noise / draw.batches for draw in draws) / 200
    assert plain == pytest.approx(100 + 400 / 8, rel=0.02)
    assert unbiased == pytest.approx(100, rel=0.02)
    assert GradientNoise(signal=1.0, noise=10.0, batches=2).unbiased_ratio == math.inf


def test_one_batch_has_no_variance() -> None:
    with pytest.raises(ConfigError, match="at least two"):
        noise_of([torch.ones(3)])
