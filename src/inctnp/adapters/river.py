"""River's interface: a dictionary and a number at a time, predictions before labels."""

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from river.base import MiniBatchRegressor
from river.conf import Interval

from inctnp.adapters.frames import rows_of_frame
from inctnp.adapters.portable import from_portable, to_portable
from inctnp.errors import ConfigError
from inctnp.predictive.base import Predictive
from inctnp.predictive.plain import PlainMixture
from inctnp.regressor import StreamingRegressor

if TYPE_CHECKING:
    import pandas as pd

Features = Mapping[Any, Any]


class IncTNPRegressor(MiniBatchRegressor):
    """Probabilistic regression by a pretrained transformer neural process: learning is reading a row, once.

    Features may be numbers, texts, dates or missing, and may come and go; nothing needs to be scaled beforehand.
    `regressor` is the `StreamingRegressor` behind it: densities, forks, alarms and scores along the stream are there.

    Parameters
    ----------
    model
        A model that ships with the package, or the folder of one of yours.
    remember
        Newest predictions that are kept, so that labels may come late: a row whose prediction is kept is learned with
        what was known when it was predicted. Others are learned as if they had come just now.
    max_points
        Rows held at most.
    lags
        Earlier outcomes that are features, too: 1 is the latest one known.

    The other parameters are those of `inctnp.regressor.RegressorSettings`.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from inctnp.adapters.river import IncTNPRegressor
    >>> stream = [({"speed": 0.1 * i}, 0.2 * i) for i in range(30)]
    >>> model = IncTNPRegressor("rbf-64/inctnp-seq")
    >>> error = evaluate.progressive_val_score(stream, model, metrics.MAE())
    >>> interval = model.predict_one({"speed": 1.0}, with_interval=0.9)
    >>> len(model.regressor), interval.lower < interval.upper
    (30, True)
    """

    def __init__(  # noqa: PLR0913  # River wants every option in the signature
        self,
        model: str | Path = "tabular",
        *,
        remember: int = 256,
        max_points: int | None = 1024,
        max_bytes: int | None = None,
        storage: str = "exact",
        backend: str = "auto",
        normalisation: str = "reencode",
        calibration_rows: int = 200,
        scales: Mapping[str, tuple[float, float]] | None = None,
        lags: Sequence[int] = (1,),
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
        seed: int = 0,
    ) -> None:
        if remember < 0:
            raise ConfigError(f"remember counts open questions and cannot be {remember}.")
        self.model = model
        self.remember = remember
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
        self.seed = seed
        self.regressor = StreamingRegressor(model, **self._settings())
        self._open: OrderedDict[Hashable, int] = OrderedDict()

    def learn_one(self, x: Features, y: float) -> None:
        """Learn the outcome of a row."""
        ticket = self._answered(x)
        if ticket is None:
            self.regressor.step(x, y)
        else:
            self.regressor.tell(ticket, y)

    def predict_one(self, x: Features, with_dist: bool = False, with_interval: float | None = None) -> Any:
        """The mean of a row's outcome, its distribution, or the central interval that holds it with a probability.

        The distribution has `mean`, `variance`, `density`, `log_prob`, `cdf`, `quantile` and `crps`.
        """
        predictive = self._asked(x)
        if with_dist:
            return predictive
        if with_interval:
            tail = (1 - (self.level if with_interval is True else with_interval)) / 2
            return Interval(lower=predictive.quantile(tail), upper=predictive.quantile(1 - tail))
        return predictive.mean

    def learn_many(self, X: "pd.DataFrame", y: "pd.Series") -> None:
        """Learn rows in the order of the frame."""
        self.regressor.learn(rows_of_frame(X), list(y))

    def predict_many(self, X: "pd.DataFrame") -> "pd.Series":
        """The means of rows, each as if it came next."""
        import pandas as pd

        mean = self.regressor.predict(rows_of_frame(X)).mean[:, 0]
        return pd.Series(mean.numpy(), index=X.index, dtype="float64")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "regressor": to_portable(self.regressor)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.regressor = from_portable(state["regressor"])

    def _settings(self) -> dict[str, Any]:
        own = ("model", "remember")
        chosen = {name: value for name, value in self._get_params().items() if name not in own}
        return {**chosen, "lags": tuple(self.lags), "views": tuple(self.views), "scales": dict(self.scales or {})}

    def _asked(self, x: Features) -> PlainMixture:
        """The predictive of a row; its question is kept open if any are."""
        if not self.remember:
            return _plain(self.regressor.predict([x]))
        again = self._answered(x)
        if again is not None:
            self.regressor.withdraw(again)
        ticket = self._open[_key(x)] = self.regressor.ask(x)
        if len(self._open) > self.remember:
            self.regressor.withdraw(self._open.popitem(last=False)[1])
        return _plain(self.regressor.asked(ticket))

    def _answered(self, x: Features) -> int | None:
        """The open question about this row, no longer kept."""
        return self._open.pop(_key(x), None) if self._open else None


def _key(x: Features) -> Hashable:
    return frozenset(x.items())


def _plain(predictive: Predictive) -> PlainMixture:
    log_weights, means, stddevs = (part.flatten() for part in predictive.components())
    return PlainMixture(log_weights.exp().tolist(), means.tolist(), stddevs.tolist())
