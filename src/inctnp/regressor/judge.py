"""What is made of predictions once their outcomes are known: scores, corrections, alarms."""

from dataclasses import dataclass, field
from typing import Any, Self

from inctnp.predictive.plain import PlainMixture
from inctnp.regressor.monitor import Alarm, Monitor, Scored
from inctnp.regressor.recalibration import CORRECTIONS, Correction, Unchanged
from inctnp.regressor.watch import Watch


@dataclass
class Judge:
    """Hears every prediction with its outcome, in the order of learning."""

    monitor: Monitor
    correction: Correction = field(default_factory=Unchanged)
    watch: Watch | None = None
    restart_rows: int = 0
    """Rows to go on from after an alarm; 0 to go on as before."""

    def hear(self, plain: PlainMixture, mixture: PlainMixture, y: float) -> bool:
        """Take a prediction in, before and after its correction; answers whether to start again."""
        low, high = (mixture.quantile(level) for level in self.monitor.tails)
        scored = Scored(mixture.log_prob(y), mixture.crps(y), y - mixture.mean, mixture.cdf(y), high - low)
        self.monitor.note(scored)
        self.correction.learn(plain, y)
        message = self.watch.sees(scored.pit) if self.watch else None
        if message is None:
            return False
        self.monitor.alarm(Alarm(self.monitor.rows - 1, message))
        return self.restart_rows > 0

    def copy(self) -> "Judge":
        watch = self.watch and self.watch.copy()
        return Judge(self.monitor.copy(), self.correction.copy(), watch, self.restart_rows)

    def state(self) -> dict[str, Any]:
        return {
            "monitor": self.monitor.state(),
            "kind": next(name for name, kind in CORRECTIONS.items() if type(self.correction) is kind),
            "correction": self.correction.state(),
            "watch": self.watch and self.watch.state(),
            "restart_rows": self.restart_rows,
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        return cls(
            Monitor.restore(state["monitor"]),
            CORRECTIONS[state["kind"]](**state["correction"]),
            state["watch"] and Watch(**state["watch"]),
            state["restart_rows"],
        )
