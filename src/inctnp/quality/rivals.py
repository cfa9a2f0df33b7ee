"""What one would otherwise put on a stream, each prepared so that it is compared at its best.

All see the same features as our regressor. Those that learn row by row get them clipped and scaled by their running
mean and deviation, and outcomes scaled likewise; those that are refitted scale the rows they are fitted to. Who
predicts a number only gets an interval from its own past errors.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import torch

from inctnp.baselines.online_regressors import FromRiver, PointRegressor, Refitted
from inctnp.baselines.wiski import WISKI, tabular_config
from inctnp.predictive.plain import PlainMixture
from inctnp.quality.preparation import CLIP, RunningScale, SameFeatures, WindowScale
from inctnp.quality.processes import FittedProcess, fit_process
from inctnp.quality.residuals import Residuals
from inctnp.regressor.columns import Row

REFIT_EVERY, BOOSTING_WINDOW, PROCESS_WINDOW = 128, 2048, 256
LEAST_ROWS = 2
"""Rows before which a forecast is the mean of the outcomes."""


class Rival(ABC):
    """Asks for a forecast from features, and learns the outcome."""

    def __init__(self, lags: tuple[int, ...]) -> None:
        self._features = SameFeatures(lags)
        self._residuals = Residuals()
        self._asked = np.zeros(0)

    def ask(self, row: Row) -> PlainMixture:
        self._asked = self._features.of(row)
        return self._predictive(self._asked)

    def tell(self, y: float) -> None:
        self._learn(self._asked, y)
        self._features.learn(y)

    @abstractmethod
    def _predictive(self, features: np.ndarray) -> PlainMixture: ...

    @abstractmethod
    def _learn(self, features: np.ndarray, y: float) -> None: ...


class LastValue(Rival):
    """The outcome before."""

    _last = 0.0

    def _predictive(self, features: np.ndarray) -> PlainMixture:
        return self._residuals.around(self._last)

    def _learn(self, features: np.ndarray, y: float) -> None:
        self._residuals.learn(self._last, y)
        self._last = y


class RowByRow(Rival):
    """A point regressor that learns each row once, of scaled features and outcomes."""

    def __init__(self, lags: tuple[int, ...], regressor: PointRegressor) -> None:
        super().__init__(lags)
        self._regressor, self._scale = regressor, RunningScale()
        self._scaled, self._forecast = np.zeros(0), 0.0

    def _predictive(self, features: np.ndarray) -> PlainMixture:
        self._scaled = self._scale.take(features)[None]
        guess = float(self._regressor.guess(self._scaled)[0]) if self._residuals.rows >= LEAST_ROWS else 0.0
        self._forecast = self._residuals.mean + self._residuals.deviation * guess
        return self._residuals.around(self._forecast)

    def _learn(self, features: np.ndarray, y: float) -> None:
        self._residuals.learn(self._forecast, y)
        scaled = (y - self._residuals.mean) / self._residuals.deviation
        self._regressor.learn(self._scaled, np.array([scaled]))


class Refit(Rival):
    """A batch learner on a window of rows, fitted anew at every doubling and every so many rows."""

    def __init__(self, lags: tuple[int, ...], refitted: Refitted) -> None:
        super().__init__(lags)
        self._refitted, self._forecast = refitted, 0.0

    def _predictive(self, features: np.ndarray) -> PlainMixture:
        ready = self._refitted.model is not None
        self._forecast = float(self._refitted.guess(features[None])[0]) if ready else self._residuals.mean
        return self._residuals.around(self._forecast)

    def _learn(self, features: np.ndarray, y: float) -> None:
        self._residuals.learn(self._forecast, y)
        self._refitted.learn(features[None], np.array([y]))


Width = Callable[[Residuals, float, float], PlainMixture]
"""From past errors, a mean and the deviation a process gives itself."""


def its_own(residuals: Residuals, mean: float, deviation: float) -> PlainMixture:
    """The process's own Gaussian."""
    return PlainMixture((1.0,), (mean,), (deviation,))


def by_errors(residuals: Residuals, mean: float, deviation: float) -> PlainMixture:
    """As for those who predict a number only."""
    return residuals.around(mean)


class WindowedProcess(Rival):
    """A Gaussian process conditioned on the newest rows, its hyperparameters refitted on schedule."""

    def __init__(self, lags: tuple[int, ...], window: int, width: Width, seed: int) -> None:
        super().__init__(lags)
        self._rows: deque[tuple[np.ndarray, float]] = deque(maxlen=window)
        self._width, self._seed, self._next, self._seen = width, seed, 16, 0
        self._process: FittedProcess | None = None
        self._forecast = 0.0

    def _predictive(self, features: np.ndarray) -> PlainMixture:
        if self._process is None:
            self._forecast = self._residuals.mean
            return self._residuals.around(self._forecast)
        self._forecast, deviation = self._process.predict(*self._window(), features)
        return self._width(self._residuals, self._forecast, deviation)

    def _learn(self, features: np.ndarray, y: float) -> None:
        self._residuals.learn(self._forecast, y)
        self._rows.append((features, y))
        self._seen += 1
        if self._seen == self._next:
            self._process = fit_process(*self._window(), self._seed)
            self._next = self._seen + min(self._seen, PROCESS_WINDOW)

    def _window(self) -> tuple[np.ndarray, np.ndarray]:
        x, y = zip(*self._rows, strict=True)
        return np.array(x), np.array(y)


class OnAGrid(Rival):
    """WISKI by the paper's settings for tables: pretrained on the first twentieth of the stream, then one step a row.

    Outcomes are scaled by those rows once and for all, and its width is its own.
    """

    def __init__(self, lags: tuple[int, ...], rows: int, seed: int) -> None:
        super().__init__(lags)
        self._rows, self._scale = rows, RunningScale()
        self._scaled = np.zeros(0)
        self._early: list[tuple[np.ndarray, float]] = []
        self._model: Any = None
        self._context: Any = None
        self._center, self._spread = 0.0, 1.0

    def _predictive(self, features: np.ndarray) -> PlainMixture:
        self._scaled = self._scale.take(features)
        if self._context is None:
            return self._residuals.around(self._residuals.mean)
        predictive = self._model.query(self._context, _tensor(self._scaled[None]))
        mean = self._center + self._spread * predictive.mean.item()
        return PlainMixture((1.0,), (mean,), (self._spread * predictive.stddev.item(),))

    def _learn(self, features: np.ndarray, y: float) -> None:
        if self._context is not None:
            self._extend(self._scaled[None], np.array([y]))
            return
        self._residuals.learn(self._residuals.mean, y)
        self._early.append((self._scaled, y))
        config = tabular_config(len(features), self._rows)
        if len(self._early) == config.pretrain_points:
            self._center, self._spread = self._residuals.mean, self._residuals.deviation
            self._model = WISKI(config)
            self._context = self._model.empty()
            x, outcomes = zip(*self._early, strict=True)
            self._extend(np.array(x), np.array(outcomes))

    def _extend(self, x: np.ndarray, y: np.ndarray) -> None:
        scaled = (y - self._center) / self._spread
        self._context = self._model.extend(self._context, _tensor(x), _tensor(scaled[:, None]))


class StochasticGradient:
    """scikit-learn's linear regression by stochastic gradients."""

    def __init__(self, seed: int) -> None:
        from sklearn.linear_model import SGDRegressor

        self._model = SGDRegressor(random_state=seed)

    def learn(self, x: np.ndarray, y: np.ndarray) -> None:
        self._model.partial_fit(x, y)

    def guess(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._model.predict(x))


@dataclass(frozen=True)
class Held:
    """Guesses held within four deviations of the outcomes: River's linear regression can diverge for a few rows."""

    regressor: PointRegressor

    def learn(self, x: np.ndarray, y: np.ndarray) -> None:
        self.regressor.learn(x, y)

    def guess(self, x: np.ndarray) -> np.ndarray:
        return np.clip(self.regressor.guess(x), -CLIP, CLIP)


class ScaledBoosting:
    """scikit-learn's gradient boosting on features clipped and scaled by the rows it is fitted to."""

    def __init__(self, seed: int) -> None:
        from sklearn.ensemble import HistGradientBoostingRegressor

        self._model = HistGradientBoostingRegressor(random_state=seed)

    def fit(self, x: np.ndarray, y: np.ndarray) -> "ScaledBoosting":
        self._scale = WindowScale.of(x)
        self._model.fit(self._scale.apply(x), y)
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._model.predict(self._scale.apply(x)))


Maker = Callable[[tuple[int, ...], int, int], Rival]
"""From lags, the rows that will come, and a seed."""


def _river(module: str, name: str, **choices: Any) -> PointRegressor:
    return FromRiver(getattr(import_module(f"river.{module}"), name)(**choices))


RIVALS: dict[str, tuple[str, Maker]] = {
    "last value": ("the outcome before", lambda lags, rows, seed: LastValue(lags)),
    "linear": (
        "River `LinearRegression`, its forecasts held within four deviations",
        lambda lags, rows, seed: RowByRow(lags, Held(_river("linear_model", "LinearRegression"))),
    ),
    "bayesian linear": (
        "River `BayesianLinearRegression`",
        lambda lags, rows, seed: RowByRow(lags, _river("linear_model", "BayesianLinearRegression")),
    ),
    "sgd": ("scikit-learn `SGDRegressor`", lambda lags, rows, seed: RowByRow(lags, StochasticGradient(seed))),
    "adaptive tree": (
        "River `HoeffdingAdaptiveTreeRegressor`",
        lambda lags, rows, seed: RowByRow(lags, _river("tree", "HoeffdingAdaptiveTreeRegressor", seed=seed)),
    ),
    "adaptive forest": (
        "River `ARFRegressor`",
        lambda lags, rows, seed: RowByRow(lags, _river("forest", "ARFRegressor", seed=seed)),
    ),
    "random patches": (
        "River `SRPRegressor`",
        lambda lags, rows, seed: RowByRow(lags, _river("ensemble", "SRPRegressor", seed=seed)),
    ),
    "boosting": (
        f"scikit-learn `HistGradientBoostingRegressor` on the newest {BOOSTING_WINDOW} rows, refitted every "
        f"{REFIT_EVERY}",
        lambda lags, rows, seed: Refit(lags, Refitted(lambda: ScaledBoosting(seed), REFIT_EVERY, BOOSTING_WINDOW)),
    ),
    "windowed process": (
        f"scikit-learn `GaussianProcessRegressor`, RBF-ARD and noise, on the newest {PROCESS_WINDOW} rows, its "
        f"hyperparameters refitted every {PROCESS_WINDOW}",
        lambda lags, rows, seed: WindowedProcess(lags, PROCESS_WINDOW, its_own, seed),
    ),
    "process by errors": (
        "the same process, its interval from its past errors",
        lambda lags, rows, seed: WindowedProcess(lags, PROCESS_WINDOW, by_errors, seed),
    ),
    "wiski": ("WISKI by the settings of the paper for tables", lambda lags, rows, seed: OnAGrid(lags, rows, seed)),
}
"""By name: what it is, and how to make one."""


def _tensor(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.asarray(values, dtype=np.float64))
