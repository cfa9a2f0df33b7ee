"""scikit-learn's interface: `fit` starts afresh, `partial_fit` goes on, and `predict` knows how sure it is."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, no_type_check

import numpy as np
import torch
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from inctnp.adapters.frames import Rows, rows_of_array, rows_of_frame
from inctnp.adapters.portable import from_portable, put_together, taken_apart, to_portable
from inctnp.errors import ConfigError
from inctnp.regressor import StreamingRegressor
from inctnp.streaming.sealed import Kind

ESTIMATOR = Kind("inctnp-sklearn", 1, "estimator")
AT_ONCE = 256
"""Rows asked together: enough to share the work, few enough for the memory."""


class IncTNPRegressor(RegressorMixin, BaseEstimator):
    """Probabilistic regression by a pretrained transformer neural process: learning is reading rows, once.

    The parameters are those of `inctnp.regressor.RegressorSettings`, with `random_state` for its seed. Rows are not
    taken for a time series, so no lagged outcomes are inputs unless `lags` asks for them.

    Texts, dates and missing values come in a pandas data frame; an array holds numbers, and NaN for what is missing.
    `regressor_` is the `StreamingRegressor` behind it: densities, forks and scores along the stream are there.
    """

    joint_draws: int
    random_state: int

    # scikit-learn wants anything taken here and judged in `fit`.
    @no_type_check
    def __init__(  # noqa: PLR0913  # scikit-learn wants every option in the signature
        self,
        model: str | Path = "tabular",
        *,
        max_points: int | None = 1024,
        max_bytes: int | None = None,
        storage: str = "exact",
        backend: str = "auto",
        normalisation: str = "reencode",
        calibration_rows: int = 200,
        scales: Mapping[str, tuple[float, float]] | None = None,
        lags: Sequence[int] = (),
        recency: bool = False,
        advice: bool = True,
        views: Sequence[str] = ("direct",),
        groups: int = 1,
        blend: bool = True,
        recalibration: str = "none",
        alarm: str = "off",
        restart_rows: int = 64,
        undo: int = 0,
        level: float = 0.9,
        joint_draws: int = 100,
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.max_points = max_points
        self.max_bytes = max_bytes
        self.storage = storage
        self.backend = backend
        self.normalisation = normalisation
        self.calibration_rows = calibration_rows
        self.scales = scales
        self.lags = lags
        self.recency = recency
        self.advice = advice
        self.views = views
        self.groups = groups
        self.blend = blend
        self.recalibration = recalibration
        self.alarm = alarm
        self.restart_rows = restart_rows
        self.undo = undo
        self.level = level
        self.joint_draws = joint_draws
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn these rows in this order."""
        with _all_or_nothing(self):
            rows, outcomes = self._checked(X, y, reset=True)
            regressor = self._fresh()
            regressor.learn(rows, outcomes)
            self.regressor_ = regressor
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn these rows after those learned so far."""
        if not hasattr(self, "regressor_"):
            return self.fit(X, y)
        self.regressor_.learn(*self._checked(X, y, reset=False))
        return self

    def predict(
        self,
        X: Any,
        return_std: bool = False,
        return_cov: bool = False,
        quantiles: Sequence[float] | None = None,
    ) -> Any:
        """Means of rows, each as if it came next; or means and standard deviations, or means and covariance.

        With `quantiles` the quantiles at these levels, [row, level], and nothing else. The covariance has the exact
        variances on its diagonal; correlations are those of `joint_draws` joint draws, in which outcomes follow each
        other in the order of the rows, and take time in proportion to draws and rows.
        """
        if return_std + return_cov + (quantiles is not None) > 1:
            raise ConfigError("Ask for one of return_std, return_cov and quantiles at a time.")
        rows = self._asked(X)
        predictives = [self.regressor_.predict(part) for part in _parts(rows)]
        if quantiles is not None:
            levels = [torch.cat([p.quantile(float(level)) for p in predictives]) for level in quantiles]
            return torch.cat(levels, dim=1).numpy() if levels else np.zeros((len(rows), 0))
        mean, std = (torch.cat([getattr(p, name)[:, 0] for p in predictives]).numpy() for name in ("mean", "stddev"))
        if return_cov:
            return mean, std[:, None] * self._correlation(rows) * std
        return (mean, std) if return_std else mean

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Joint draws of the outcomes of these rows coming in this order, [row, draw]."""
        return self._draws(self._asked(X), n_samples, random_state)

    def save(self, path: str | Path) -> Path:
        """Write parameters and everything learned to one file, whole or not at all."""
        check_is_fitted(self)
        names = list(getattr(self, "feature_names_in_", []))
        params = self.get_params(deep=False)
        params["model"] = str(params["model"])
        header, tensors = taken_apart(self.regressor_)
        extra = {"params": params, "features": self.n_features_in_, "names": names}
        return ESTIMATOR.write(Path(path), {**header, **extra}, tensors)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Go on from a saved file, bit for bit."""
        header, tensors = ESTIMATOR.read(Path(path))
        listed = {name: tuple(header["params"][name]) for name in ("lags", "views")}
        estimator = cls(**{**header["params"], **listed})
        estimator.regressor_ = put_together(header, tensors, path)
        estimator.n_features_in_ = header["features"]
        if header["names"]:
            estimator.feature_names_in_ = np.array(header["names"], dtype=object)
        return estimator

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "regressor_" in state:
            state["regressor_"] = to_portable(state["regressor_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "regressor_" in state:
            state = {**state, "regressor_": from_portable(state["regressor_"])}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fresh(self) -> StreamingRegressor:
        """A regressor of no rows with these parameters."""
        params = self.get_params(deep=False)
        del params["joint_draws"]
        listed = {name: tuple(params[name]) for name in ("lags", "views")}
        scales, seed = dict(params["scales"] or {}), params.pop("random_state")
        return StreamingRegressor(**{**params, **listed, "scales": scales, "seed": seed})

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[Rows, np.ndarray]:
        """Rows and outcomes to learn."""
        if hasattr(X, "columns"):
            validate_data(self, X, y, reset=reset, skip_check_array=True)
            return rows_of_frame(X), column_or_1d(y, warn=True)
        X, y = validate_data(self, X, y, reset=reset, y_numeric=True, ensure_all_finite="allow-nan", dtype=np.float64)
        return rows_of_array(X, self._names()), y

    def _asked(self, X: Any) -> Rows:
        """Rows to ask about."""
        check_is_fitted(self)
        if hasattr(X, "columns"):
            validate_data(self, X, reset=False, skip_check_array=True)
            return rows_of_frame(X)
        X = validate_data(self, X, reset=False, ensure_all_finite="allow-nan", dtype=np.float64)
        return rows_of_array(X, self._names())

    def _names(self) -> list[str]:
        numbered = [f"x{place}" for place in range(self.n_features_in_)]
        return list(getattr(self, "feature_names_in_", numbered))

    def _draws(self, rows: Rows, count: int, random_state: Any) -> np.ndarray:
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
        joint = self.regressor_.sample(rows, count, generator=torch.Generator().manual_seed(seed))
        return joint.draws[..., 0].T.numpy()

    def _correlation(self, rows: Rows) -> np.ndarray:
        away = self._draws(rows, self.joint_draws, self.random_state)
        away = away - away.mean(axis=1, keepdims=True)
        length = np.sqrt((away**2).sum(axis=1))
        away = away / np.where(length > 0, length, 1.0)[:, None]
        correlation = away @ away.T
        np.fill_diagonal(correlation, 1.0)
        return correlation


@contextmanager
def _all_or_nothing(estimator: Any) -> Iterator[None]:
    """scikit-learn notes names and numbers of features before it has looked at all values."""
    before = {**vars(estimator)}
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def _parts(rows: Rows) -> Iterator[Rows]:
    for start in range(0, len(rows), AT_ONCE):
        yield rows[start : start + AT_ONCE]
