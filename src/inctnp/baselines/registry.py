"""The online regressors by name.  River and scikit-learn are extras, imported when one of theirs is asked for."""

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from inctnp.baselines.online_regressors import (
    FromRiver,
    OnlineRegressor,
    Refitted,
    WindowedGP,
    WithPartialFit,
    WithRunningError,
)
from inctnp.errors import ConfigError, UnknownNameError


def online_regressor(name: str, *, seed: int = 0) -> OnlineRegressor:
    """A fresh regressor: one of `NAMES`."""
    if name not in _MAKERS:
        raise UnknownNameError(f"No online regressor is called {name!r}: choose from {', '.join(NAMES)}.")
    return _MAKERS[name](seed)


def _extra(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(f"This regressor needs {module}: pip install 'inctnp[{extra}]'.") from error


def _river(module: str) -> Any:
    return _extra(f"river.{module}", "river")


def _river_linear(seed: int) -> OnlineRegressor:
    scaled = _river("preprocessing").StandardScaler() | _river("linear_model").LinearRegression()
    return WithRunningError(FromRiver(scaled))


def _river_knn(seed: int) -> OnlineRegressor:
    scaled = _river("preprocessing").StandardScaler() | _river("neighbors").KNNRegressor()
    return WithRunningError(FromRiver(scaled))


def _river_tree(seed: int) -> OnlineRegressor:
    return WithRunningError(FromRiver(_river("tree").HoeffdingAdaptiveTreeRegressor(seed=seed)))


def _river_forest(seed: int) -> OnlineRegressor:
    return WithRunningError(FromRiver(_river("forest").ARFRegressor(seed=seed)))


def _sgd(seed: int) -> OnlineRegressor:
    scaler = _extra("sklearn.preprocessing", "sklearn").StandardScaler()
    model = _extra("sklearn.linear_model", "sklearn").SGDRegressor(random_state=seed)
    return WithRunningError(WithPartialFit(scaler, model))


def _boosting(seed: int) -> OnlineRegressor:
    ensemble = _extra("sklearn.ensemble", "sklearn")
    refitted = Refitted(lambda: ensemble.HistGradientBoostingRegressor(random_state=seed))
    return WithRunningError(refitted, warm_up=2)


def _windowed_gp(seed: int) -> OnlineRegressor:
    return WindowedGP(Refitted(lambda: _ARDProcess(seed), window=512))


class _ARDProcess:
    """An RBF-ARD process with noise on scaled inputs, the lengthscales starting at one."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, x: Any, y: Any) -> Any:
        process = _extra("sklearn.gaussian_process", "sklearn")
        kernels = _extra("sklearn.gaussian_process.kernels", "sklearn")
        pipeline = _extra("sklearn.pipeline", "sklearn")
        scaler = _extra("sklearn.preprocessing", "sklearn").StandardScaler()
        kernel = kernels.ConstantKernel() * kernels.RBF([1.0] * x.shape[-1]) + kernels.WhiteKernel(0.1)
        gp = process.GaussianProcessRegressor(kernel, normalize_y=True, random_state=self.seed)
        with warnings.catch_warnings():
            # Useless features drive their lengthscale to its bound, which is a result and no reason to stop.
            warnings.simplefilter("ignore")
            return pipeline.make_pipeline(scaler, gp).fit(x, y)


_MAKERS: dict[str, Callable[[int], OnlineRegressor]] = {
    "river-linear": _river_linear,
    "river-knn": _river_knn,
    "river-tree": _river_tree,
    "river-forest": _river_forest,
    "sgd": _sgd,
    "boosting": _boosting,
    "windowed-gp": _windowed_gp,
}
NAMES = tuple(_MAKERS)
