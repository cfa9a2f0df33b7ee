import numpy as np
import pytest
import torch
from scipy.interpolate import RegularGridInterpolator

from inctnp.baselines.grid import Grid
from inctnp.errors import ConfigError, UnknownNameError

X = torch.rand(50, 2, generator=torch.Generator().manual_seed(0)).double() * 2 - 1


def test_linear_weights_are_scipys_interpolation() -> None:
    grid = Grid(size=7, dims=2, bounds=(-1.0, 1.0), interpolation="linear")
    values = torch.randn(49, generator=torch.Generator().manual_seed(1)).double()
    axis = grid.points().view(7, 7, 2)[:, 0, 0].numpy()
    expected = RegularGridInterpolator((axis, axis), values.view(7, 7).numpy())(X.numpy())
    np.testing.assert_allclose(grid.weights(X) @ values, expected, atol=1e-12)


def test_cubic_weights_reproduce_parabolas_at_the_edge_too() -> None:
    grid = Grid(size=6, dims=2, bounds=(-1.0, 1.0))
    x = torch.cat([X, torch.tensor([[-1.0, 1.0], [1.0, 1.0]]).double()])

    def parabola(p: torch.Tensor) -> torch.Tensor:
        return 1 + p[:, 0] - 2 * p[:, 1] ** 2 + p[:, 0] * p[:, 1]

    np.testing.assert_allclose(grid.weights(x) @ parabola(grid.points()), parabola(x), atol=1e-12)


@pytest.mark.parametrize(("interpolation", "order"), [("linear", 2), ("cubic", 3)])
def test_errors_shrink_with_the_grid(interpolation: str, order: int) -> None:
    x = torch.linspace(-1, 1, 201).double().unsqueeze(-1)
    errors = []
    for size in (19, 35):  # twice as many steps
        grid = Grid(size=size, dims=1, bounds=(-1.0, 1.0), interpolation=interpolation)
        errors.append(
            (grid.weights(x) @ torch.sin(4 * grid.points()[:, 0]) - torch.sin(4 * x[:, 0])).abs().max().item()
        )
    assert errors[0] / errors[1] > 0.8 * 2**order


def test_outside_is_the_bound() -> None:
    grid = Grid(size=8, dims=1, bounds=(0.0, 1.0))
    torch.testing.assert_close(
        grid.weights(torch.tensor([[7.0]]).double()), grid.weights(torch.tensor([[1.0]]).double())
    )


def test_impossible_grids_are_refused() -> None:
    with pytest.raises(ConfigError):
        Grid(size=3, dims=1, bounds=(0.0, 1.0))
    with pytest.raises(UnknownNameError):
        Grid(size=8, dims=1, bounds=(0.0, 1.0), interpolation="spline")
