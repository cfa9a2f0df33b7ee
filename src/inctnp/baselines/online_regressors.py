"""What one would otherwise put on a stream: online regressors, and batch learners refitted on a schedule.

All answer `observe(x, y)` and `predict(x)`, rows as `[rows, features]` and outcomes as `[rows, 1]`. Most of them
predict a number only. Their deviation is then the running root mean square of the errors they made on rows they had
not learned yet, which is what an honest user of them could say.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError
from inctnp.predictive.base import Predictive
from inctnp.predictive.gaussian import Gaussian

Rows = Float[Tensor, "row dim_x"]
Outcomes = Float[Tensor, "row 1"]
LEAST_VARIANCE = 1e-8


@runtime_checkable
class OnlineRegressor(Protocol):
    """Learns rows as they come and predicts any row, at any time."""

    def observe(self, x: Rows, y: Outcomes) -> None: ...

    def predict(self, x: Rows) -> Predictive: ...


@runtime_checkable
class PointRegressor(Protocol):
    """Predicts a number for each row."""

    def learn(self, x: np.ndarray, y: np.ndarray) -> None: ...

    def guess(self, x: np.ndarray) -> np.ndarray: ...


@dataclass
class WithRunningError:
    """A Gaussian around the guesses of a point regressor, as wide as its errors on new rows have been.

    The guess is the running mean of the outcomes until `warm_up` rows are learned: many regressors know nothing
    before that. `prior_rows` rows of squared error `prior_variance` are counted in, so that a first lucky guess is
    not trusted.
    """

    regressor: PointRegressor
    prior_variance: float = 1.0
    prior_rows: float = 1.0
    warm_up: int = 1
    seen: int = field(default=0, init=False)
    _mean: float = field(default=0.0, init=False)
    _squared: float = field(default=0.0, init=False)

    def observe(self, x: Rows, y: Outcomes) -> None:
        """Row by row: guess, note the error, learn."""
        outcomes = y.double().squeeze(-1).numpy()
        for row, outcome in zip(x.double().numpy(), outcomes, strict=True):
            error = float(outcome - self._guess(row[None])[0])
            self._squared += error**2
            self.seen += 1
            self._mean += (float(outcome) - self._mean) / self.seen
            self.regressor.learn(row[None], np.array([outcome]))

    def predict(self, x: Rows) -> Gaussian:
        mean = torch.from_numpy(self._guess(x.double().numpy())).unsqueeze(-1)
        total = self._squared + self.prior_rows * self.prior_variance
        variance = max(total / (self.seen + self.prior_rows), LEAST_VARIANCE)
        return Gaussian(mean, torch.full_like(mean, math.sqrt(variance)))

    def _guess(self, x: np.ndarray) -> np.ndarray:
        if self.seen < self.warm_up:
            return np.full(len(x), self._mean)
        return np.asarray(self.regressor.guess(x), dtype=np.float64)


@dataclass
class FromRiver:
    """A River regressor, one row at a time."""

    model: Any

    def learn(self, x: np.ndarray, y: np.ndarray) -> None:
        for row, outcome in zip(x, y, strict=True):
            self.model.learn_one(_named(row), float(outcome))

    def guess(self, x: np.ndarray) -> np.ndarray:
        return np.array([float(self.model.predict_one(_named(row))) for row in x])


@dataclass
class WithPartialFit:
    """A scikit-learn regressor that learns incrementally, on inputs scaled by their running mean and deviation."""

    scaler: Any
    model: Any

    def learn(self, x: np.ndarray, y: np.ndarray) -> None:
        self.scaler.partial_fit(x)
        self.model.partial_fit(self.scaler.transform(x), y)

    def guess(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict(self.scaler.transform(x)))


@dataclass
class Refitted:
    """A batch learner on the newest `window` rows, made anew whenever another `every` rows have come.

    It is also refitted each time the stream has doubled, so that it starts early.
    """

    make: Callable[[], Any]
    every: int = 256
    window: int = 4096
    model: Any = field(default=None, init=False)
    _rows: deque[tuple[np.ndarray, float]] = field(init=False)
    _seen: int = field(default=0, init=False)
    _next: int = field(default=2, init=False)

    def __post_init__(self) -> None:
        if self.every < 1 or self.window < 2:
            raise ConfigError(f"every must be at least 1 and window at least 2, not {self.every} and {self.window}.")
        self._rows = deque(maxlen=self.window)

    def learn(self, x: np.ndarray, y: np.ndarray) -> None:
        for row, outcome in zip(x, y, strict=True):
            self._rows.append((row, float(outcome)))
            self._seen += 1
            if self._seen == self._next:
                inputs, outcomes = zip(*self._rows, strict=True)
                self.model = self.make().fit(np.array(inputs), np.array(outcomes))
                self._next = self._seen + min(self._seen, self.every)

    def guess(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict(x))


@dataclass
class WindowedGP:
    """scikit-learn's Gaussian process with a lengthscale per feature, refitted on a window; its own deviations."""

    refitted: Refitted

    def observe(self, x: Rows, y: Outcomes) -> None:
        self.refitted.learn(x.double().numpy(), y.double().squeeze(-1).numpy())

    def predict(self, x: Rows) -> Gaussian:
        if self.refitted.model is None:
            zeros = torch.zeros(len(x), 1, dtype=torch.float64)
            return Gaussian(zeros, torch.ones_like(zeros))
        mean, std = self.refitted.model.predict(x.double().numpy(), return_std=True)
        mean, std = (torch.from_numpy(values).unsqueeze(-1) for values in (mean, std))
        return Gaussian(mean, std.clamp(min=math.sqrt(LEAST_VARIANCE)))


def _named(row: np.ndarray) -> dict[int, float]:
    return dict(enumerate(row.tolist()))
