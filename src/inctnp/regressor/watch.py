"""Notices when outcomes stop looking like predictions, by River's drift detectors.

As long as predictions are honest, the share of the predictive distribution below the outcome is uniform, whatever the
stream does; so its mean (outcomes off to one side) and its distance from the middle (too wide, too narrow) are watched.
"""

from typing import Any, Self

from inctnp.errors import ConfigError

LIFE = 4000
"""Rows after which a detector is replaced by one that knows the newest quarter of them: its state is what it was told,
so that it can be saved and copied, and that has to end somewhere."""
EARLIEST = 50
"""Rows that are not watched: predictions from next to no rows are rough."""
SURE = 0.0005
"""Probability of a false alarm that a detector is asked for."""


class Watch:
    """Two detectors, one of outcomes off to one side and one of outcomes too far away or too near."""

    def __init__(self, told: list[float] | None = None, rows: int = 0) -> None:
        self.told = told or []
        self.rows = rows
        """Rows seen ever."""
        self._detectors: list[Any] = []

    def sees(self, level: float) -> str | None:
        """What is wrong since about now, in words, if something is."""
        self.rows += 1
        if self.rows <= EARLIEST:
            return None
        detectors = self._ready()
        self.told.append(level)
        before = [detector.estimation for detector in detectors]
        found = [_tell(detector, part) for detector, part in zip(detectors, _parts(level), strict=True)]
        if any(found):
            words = _words([d.estimation - b for d, b in zip(detectors, before, strict=True)], found)
            self.told, self._detectors = [], []
            return words
        if len(self.told) >= LIFE:
            self.told, self._detectors = self.told[-LIFE // 4 :], []
        return None

    def copy(self) -> Self:
        return type(self)([*self.told], self.rows)

    def state(self) -> dict[str, Any]:
        return {"told": self.told, "rows": self.rows}

    def _ready(self) -> list[Any]:
        """Detectors that know all that was told, made when they are needed."""
        if not self._detectors:
            self._detectors = [_detector(), _detector()]
            for level in self.told:
                for detector, part in zip(self._detectors, _parts(level), strict=True):
                    detector.update(part)
        return self._detectors


def require_river() -> None:
    """Refuse alarms where River is not installed."""
    _detector()


def _detector() -> Any:
    try:
        from river.drift import ADWIN
    except ImportError as error:
        raise ConfigError("Alarms take River's detectors: `pip install inctnp[river]`, or alarm='off'.") from error
    return ADWIN(delta=SURE)


def _parts(level: float) -> tuple[float, float]:
    """Both between 0 and 1, and one half on average."""
    return level, abs(2 * level - 1)


def _tell(detector: Any, value: float) -> bool:
    detector.update(value)
    return bool(detector.drift_detected)


def _words(moved: list[float], found: list[bool]) -> str:
    side = "higher" if moved[0] > 0 else "lower"
    spread = "further from" if moved[1] > 0 else "nearer to"
    said = [f"{side} than predicted", f"{spread} predictions than their spread says"]
    return "outcomes have come to lie " + " and ".join(each for each, is_so in zip(said, found, strict=True) if is_so)
