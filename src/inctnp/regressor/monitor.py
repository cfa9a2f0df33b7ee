"""How good the predictions have been, each made before its row was learned."""

import math
from dataclasses import dataclass, field
from typing import Any, Self

BINS = 10
MOST_ALARMS = 1000


@dataclass(frozen=True)
class Scores:
    """Means over all rows scored."""

    rows: int
    log_score: float
    """Mean log-density; larger is better."""
    crps: float
    rmse: float
    coverage: float
    """Share of outcomes inside their interval."""
    width: float
    """Mean length of the intervals."""
    level: float
    """Probability the intervals were to hold."""
    pit: tuple[float, ...]
    """Share of outcomes in each tenth of their predictive distribution; equal shares are calibrated."""


@dataclass(frozen=True)
class Scored:
    """One prediction and what came true."""

    log_score: float
    crps: float
    error: float
    pit: float
    width: float


@dataclass(frozen=True)
class Alarm:
    """Outcomes stopped looking like predictions."""

    row: int
    message: str


@dataclass
class Monitor:
    """Running sums over the rows scored, and the alarms so far."""

    level: float
    rows: int = 0
    log_score: float = 0.0
    crps: float = 0.0
    squared: float = 0.0
    covered: int = 0
    width: float = 0.0
    bins: list[int] = field(default_factory=lambda: [0] * BINS)
    alarms: list[Alarm] = field(default_factory=list)
    last: Scored | None = None
    """The newest row."""

    @property
    def scores(self) -> Scores:
        """NaN where nothing was scored yet."""
        n = self.rows

        def mean(total: float) -> float:
            return total / n if n else math.nan

        return Scores(
            rows=n,
            log_score=mean(self.log_score),
            crps=mean(self.crps),
            rmse=math.sqrt(mean(self.squared)),
            coverage=mean(self.covered),
            width=mean(self.width),
            level=self.level,
            pit=tuple(mean(count) for count in self.bins),
        )

    @property
    def tails(self) -> tuple[float, float]:
        """Levels of the ends of the interval."""
        return (1 - self.level) / 2, (1 + self.level) / 2

    def note(self, scored: Scored) -> None:
        low, high = self.tails
        self.rows += 1
        self.log_score += scored.log_score
        self.crps += scored.crps
        self.squared += scored.error**2
        self.covered += low <= scored.pit <= high
        self.width += scored.width
        self.bins[min(int(scored.pit * BINS), BINS - 1)] += 1
        self.last = scored

    def begin_again(self) -> None:
        """Count anew, from the next row on; alarms are kept."""
        self.__init__(self.level, alarms=self.alarms)

    def alarm(self, alarm: Alarm) -> None:
        """Keep the newest alarms."""
        self.alarms.append(alarm)
        del self.alarms[:-MOST_ALARMS]

    def copy(self) -> "Monitor":
        return Monitor(**{**self.__dict__, "bins": [*self.bins], "alarms": [*self.alarms]})

    def state(self) -> dict[str, Any]:
        return {**vars(self), "alarms": [vars(alarm) for alarm in self.alarms], "last": self.last and vars(self.last)}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        changed = {
            "alarms": [Alarm(**alarm) for alarm in state["alarms"]],
            "last": state["last"] and Scored(**state["last"]),
        }
        return cls(**{**state, **changed})
