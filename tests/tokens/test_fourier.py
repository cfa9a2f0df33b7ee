"""Fourier features: phases survive large hours and every change of type."""

import math

import numpy as np
import pytest
import torch

from inctnp.errors import ConfigError
from inctnp.testing.toy import toy_model
from inctnp.tokens.fourier import STATION_WAVELENGTHS, FourierFeatures, wavelengths


def test_each_input_gives_cosines_then_sines_of_its_own_grid() -> None:
    features = FourierFeatures([(1.0, 2.0), (5.0,)])
    x = torch.tensor([[0.3, 4.0]], dtype=torch.float64)
    angles = 2 * np.pi * np.array([0.3, 0.15]), 2 * np.pi * np.array([0.8])
    expected = np.concatenate([f(a) for a in angles for f in (np.cos, np.sin)])
    np.testing.assert_allclose(features(x)[0].numpy(), expected, atol=1e-14)
    assert features.size == 6


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_a_change_of_type_leaves_the_grid_in_float64(dtype: torch.dtype) -> None:
    model = toy_model("inctnp", dim_x=4, grids=STATION_WAVELENGTHS).to(dtype)
    assert model.dtype == dtype
    for grid, original in zip(model.embed.fourier.grids, STATION_WAVELENGTHS, strict=True):
        assert grid.dtype == torch.float64 and tuple(grid.tolist()) == original


def test_hours_since_an_epoch_keep_their_phase_in_a_narrow_model() -> None:
    hours = torch.tensor([[0.0, 0.0, 0.0, 736_330.37]], dtype=torch.float64)
    for dtype in (torch.float32, torch.bfloat16):
        model = toy_model("inctnp", dim_x=4, grids=STATION_WAVELENGTHS).to(dtype)
        expected = math.cos(2 * math.pi * 0.37)
        assert model.embed.fourier(hours)[0, 96].item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["cnp", "tnp-d", "lbanp", "tnp-a", "inctnp", "inctnp-prior"])
def test_float64_inputs_reach_a_float32_model_with_features(name: str) -> None:
    model = toy_model(name, dim_x=1, grids=((24.0, 8760.0),)).float()
    x = torch.tensor([[700_000.0], [700_003.0]], dtype=torch.float64)
    context = model.extend(model.empty(), x, torch.zeros(2, 1))
    p = model.query(context, x + 1)
    assert p.mean.dtype == torch.float32 and torch.isfinite(p.mean).all()
    # Six hours of a day later the answer is another one; in float32 hours this far out it would still be told apart,
    # but not the sixteenth of an hour asked about here.
    assert not torch.equal(model.query(context, x + 1 + 1 / 64).mean, p.mean)
    assert model.joint_sample(context, x, 2).draws.shape == (2, 2, 1)
    assert torch.isfinite(model.joint_log_prob(context, x, torch.zeros(2, 1)))


def test_wavelengths_are_log_spaced_with_both_ends() -> None:
    np.testing.assert_allclose(wavelengths(0.001, 2, 16), np.geomspace(0.001, 2, 16), rtol=1e-12)
    for settings in ((1.0, 2.0, 1), (0.0, 2.0, 3), (3.0, 2.0, 3)):
        with pytest.raises(ConfigError, match="wavelengths"):
            wavelengths(*settings)


@pytest.mark.parametrize("grids", [(), ((),), ((1.0, -2.0),)])
def test_grids_need_positive_wavelengths(grids: tuple[tuple[float, ...], ...]) -> None:
    with pytest.raises(ConfigError, match="positive wavelength"):
        FourierFeatures(grids)
