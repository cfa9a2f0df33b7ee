"""Every choice a streaming regressor leaves to its user."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from inctnp.errors import ConfigError

NORMALISATIONS = ("reencode", "calibrated", "supplied")
VIEWS = ("direct", "residual")
RECALIBRATIONS = ("none", "temperature", "conformal")
ALARMS = ("off", "ignore", "restart")
LEAST_POINTS = 128


@dataclass(frozen=True, kw_only=True)
class RegressorSettings:
    """Stored with a saved state, so everything in it is a plain value."""

    model: str = "tabular"
    """A shipped model, or the folder of a saved one."""
    max_points: int | None = 1024
    """Rows held at most; None keeps every row, and a row then costs time in proportion to all before it."""
    max_bytes: int | None = None
    """Bytes of the rows held and of their contexts at most; the stricter of the two limits counts."""
    storage: str = "exact"
    """How keys and values are kept: exact, bfloat16 or int8."""
    backend: str = "auto"
    """Who computes single rows: `fused` compiled code, `eager` the model, `auto` compiled code where it pays."""
    normalisation: str = "reencode"
    """`reencode`: statistics of the rows held, renewed whenever the context has doubled. `calibrated`: the same until
    `calibration_rows` rows have come, then frozen (the paper's). `supplied`: those in `scales`."""
    calibration_rows: int = 200
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Centre and spread of columns by name, the target's under the name `""`; for `supplied`."""
    lags: tuple[int, ...] = (1,)
    """Earlier outcomes that are inputs too: 1 is the latest one known."""
    recency: bool = False
    """Whether the number of the row is an input too, for relations that drift."""
    advice: bool = True
    """Whether the forecast of an online linear regression is an input too."""
    views: tuple[str, ...] = ("direct",)
    """What the network predicts: the outcome (`direct`), or what the linear regression leaves of it (`residual`).
    With both, their mixture."""
    groups: int = 1
    """Where there are more features than the network has inputs: so many draws of features, answering as a mixture."""
    blend: bool = True
    """Whether predictions are mixed with those of three simple forecasters by how well each has done so far."""
    recalibration: str = "none"
    """`temperature` widens or narrows predictions by what past ones should have been; `conformal` moves their quantiles
    to where past outcomes fell."""
    alarm: str = "off"
    """What follows when outcomes stop looking like predictions: `off` does not watch, `ignore` notes it, `restart`
    keeps only the newest `restart_rows` rows."""
    restart_rows: int = 64
    level: float = 0.9
    """Of the interval whose coverage is monitored."""
    undo: int = 0
    """Rows that can be forgotten or corrected. They and some states along them are kept beside what `max_bytes` counts,
    and not saved."""
    seed: int = 0
    """Of the groups of features."""

    def __post_init__(self) -> None:
        for name, value, known in (
            ("normalisation", self.normalisation, NORMALISATIONS),
            ("recalibration", self.recalibration, RECALIBRATIONS),
            ("alarm", self.alarm, ALARMS),
            *(("view", view, VIEWS) for view in self.views),
        ):
            if value not in known:
                raise ConfigError(f"No {name} is called {value!r}: choose from {', '.join(known)}.")
        self._check_numbers()

    @classmethod
    def restore(cls, plain: Mapping[str, Any]) -> Self:
        """Settings as a file holds them, where tuples have become lists."""
        scales = {name: tuple(scale) for name, scale in plain["scales"].items()}
        return cls(**{**plain, "lags": tuple(plain["lags"]), "views": tuple(plain["views"]), "scales": scales})

    def _check_numbers(self) -> None:
        if not self.views or len(set(self.views)) < len(self.views):
            raise ConfigError(f"views must name one or both of {', '.join(VIEWS)}, not {self.views}.")
        if self.max_points is not None and self.max_points < LEAST_POINTS:
            raise ConfigError(
                f"max_points must be at least {LEAST_POINTS}, or None to keep all, not {self.max_points}."
            )
        if any(lag < 1 for lag in self.lags) or len(set(self.lags)) < len(self.lags):
            raise ConfigError(f"lags count back from 1, each once, not {self.lags}.")
        if self.undo < 0:
            raise ConfigError(f"undo must be a number of rows, 0 for none, not {self.undo}.")
        if min(self.groups, self.restart_rows, self.calibration_rows) < 1 or not 0 < self.level < 1:
            raise ConfigError("groups, restart_rows and calibration_rows must be at least 1, level between 0 and 1.")
        if (self.normalisation == "supplied") != bool(self.scales):
            raise ConfigError("scales and normalisation='supplied' go together: give both or neither.")
        if any(len(scale) != 2 or not scale[1] > 0 for scale in self.scales.values()):
            raise ConfigError("scales holds a centre and a positive spread for each column.")
