"""Independent oracles and small files that several tests of the generators share."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.gaussian_process import kernels

from inctnp.generators.kernels import PERIOD

Covariance = Callable[[str, float, np.ndarray, np.ndarray], np.ndarray]
Conditioning = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]


@pytest.fixture
def reference_kernel() -> Covariance:
    """The kernel of this name and lengthscale as scikit-learn computes it."""
    make = {
        "rbf": kernels.RBF,
        "matern12": lambda scale: kernels.Matern(scale, nu=0.5),
        "matern32": lambda scale: kernels.Matern(scale, nu=1.5),
        "matern52": lambda scale: kernels.Matern(scale, nu=2.5),
        "periodic": lambda scale: kernels.ExpSineSquared(scale, periodicity=PERIOD),
    }
    return lambda name, scale, x1, x2: np.asarray(make[name](scale)(x1, x2))


@pytest.fixture
def condition() -> Conditioning:
    """Mean and covariance of a zero-mean Gaussian's last entries given its first, by the textbook formula."""

    def conditioned(cov: np.ndarray, y: np.ndarray, seen: int) -> tuple[np.ndarray, np.ndarray]:
        weights = cov[seen:, :seen] @ np.linalg.inv(cov[:seen, :seen])
        return weights @ y[:seen], cov[seen:, seen:] - weights @ cov[:seen, seen:]

    return conditioned
