"""scikit-learn's Gaussian process with a lengthscale per feature: data always new, hyperparameters now and then."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from inctnp.quality.preparation import WindowScale

LEAST_DEVIATION = 1e-6
"""Of the outcomes' deviation: a process that is certain says so no more strongly."""


@dataclass(frozen=True)
class FittedProcess:
    """Scales and hyperparameters of a window; it can be conditioned on later ones."""

    scale: WindowScale
    center: float
    spread: float
    kernel: Any

    def predict(self, x: np.ndarray, y: np.ndarray, features: np.ndarray) -> tuple[float, float]:
        """Mean and standard deviation of an outcome, given these rows."""
        from sklearn.gaussian_process import GaussianProcessRegressor

        process = GaussianProcessRegressor(self.kernel, optimizer=None)
        process.fit(self.scale.apply(x), (y - self.center) / self.spread)
        mean, deviation = process.predict(self.scale.apply(features[None]), return_std=True)
        least = max(float(deviation[0]), LEAST_DEVIATION)
        return self.center + self.spread * float(mean[0]), self.spread * least


def fit_process(x: np.ndarray, y: np.ndarray, seed: int) -> FittedProcess:
    """Scales and hyperparameters from a window of rows."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    scale, center, deviation = WindowScale.of(x), float(y.mean()), float(y.std())
    spread = deviation if deviation > 1e-9 * abs(center) else 1.0
    kernel = ConstantKernel() * RBF(np.ones(x.shape[1])) + WhiteKernel(0.1)
    process = GaussianProcessRegressor(kernel, random_state=seed)
    with warnings.catch_warnings():
        # Useless features drive their lengthscale to its bound, which is a result and no reason to stop.
        warnings.simplefilter("ignore")
        process.fit(scale.apply(x), (y - center) / spread)
    return FittedProcess(scale, center, spread, process.kernel_)
