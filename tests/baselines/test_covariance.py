import numpy as np
import pytest
import torch
from sklearn.gaussian_process import kernels

from inctnp.baselines.covariance import ARDKernel, with_noise
from inctnp.errors import ConfigError

X1, X2 = (
    torch.randn(5, 3, generator=torch.Generator().manual_seed(0)).double(),
    torch.linspace(-1, 1, 12).view(4, 3).double(),
)
SCALES = torch.tensor([0.5, 1.0, 2.5]).double()
SCIKIT = {
    "rbf": kernels.RBF(SCALES.tolist()),
    "matern12": kernels.Matern(SCALES.tolist(), nu=0.5),
    "matern32": kernels.Matern(SCALES.tolist(), nu=1.5),
    "matern52": kernels.Matern(SCALES.tolist(), nu=2.5),
}


@pytest.mark.parametrize("family", SCIKIT)
def test_kernels_are_scikit_learns(family: str) -> None:
    ours = ARDKernel(family, SCALES, torch.tensor(1.75).double())(X1, X2)
    np.testing.assert_allclose(ours, 1.75 * SCIKIT[family](X1.numpy(), X2.numpy()), rtol=1e-10)


def test_each_task_has_hyperparameters_of_its_own() -> None:
    scales, variances = torch.tensor([[0.3], [2.0]]).double(), torch.tensor([1.0, 4.0]).double()
    x = torch.rand(2, 6, 1).double()
    together = ARDKernel("matern32", scales, variances)(x, x)
    for row in range(2):
        torch.testing.assert_close(together[row], ARDKernel("matern32", scales[row], variances[row])(x[row], x[row]))


def test_gradients_are_finite_on_the_diagonal() -> None:
    scale = SCALES.clone().requires_grad_()
    for family in SCIKIT:
        (gradient,) = torch.autograd.grad(ARDKernel(family, scale, torch.ones(()).double())(X1, X1).sum(), scale)
        assert torch.isfinite(gradient).all() and gradient.abs().max() > 0


def test_unknown_kernels_and_periods_in_several_inputs_are_refused() -> None:
    with pytest.raises(ConfigError, match="called"):
        ARDKernel("linear", SCALES, torch.ones(()))
    with pytest.raises(ConfigError, match="periodic"):
        ARDKernel("periodic", SCALES, torch.ones(()))


def test_noise_is_added_to_the_diagonal_of_each_task() -> None:
    noisy = with_noise(torch.zeros(2, 3, 3).double(), torch.tensor([1.0, 2.0]))
    np.testing.assert_array_equal(noisy[1], 2 * np.eye(3))
