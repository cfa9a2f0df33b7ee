"""What `inctnp demo` shows: real streams, each row predicted before it is learned, by us and by River's best."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from inctnp.errors import ConfigError
from inctnp.predictive.plain import PlainMixture
from inctnp.quality.contestant import Contestant
from inctnp.quality.ours import Ours
from inctnp.quality.prequential import LEVEL, UNSCORED, Measured, measure
from inctnp.quality.rivals import RIVALS
from inctnp.quality.streams import source
from inctnp.regressor import StreamingRegressor
from inctnp.regressor.columns import Row
from inctnp.report import Journal, record_of, write_report

STREAMS = ("water", "approval", "chicks")
"""What River has in its package: nothing is downloaded."""
REPORTED = "water"
CANDIDATES = ("linear", "bayesian linear", "adaptive tree", "adaptive forest")
"""River's regressors that keep up with a stream; the best of them on each stream is shown."""
LIMIT = 1500
"""Rows of a stream."""


@dataclass(frozen=True)
class Shown:
    """One stream."""

    stream: str
    about: str
    ours: Measured
    rival: str
    """Which of River's did best, by its log score on the whole stream."""
    theirs: Measured
    journal: Journal


class Watched:
    """Passes questions and outcomes on to a contestant, and keeps what was said for a report."""

    def __init__(self, contestant: Contestant, journal: Journal) -> None:
        self._contestant, self._journal = contestant, journal
        self._expected: PlainMixture | None = None
        self._seconds = 0.0

    def ask(self, row: Row) -> PlainMixture:
        start = time.perf_counter()
        self._expected = self._contestant.ask(row)
        self._seconds = time.perf_counter() - start
        return self._expected

    def tell(self, y: float) -> None:
        assert self._expected is not None
        start = time.perf_counter()
        self._contestant.tell(y)
        seconds = self._seconds + time.perf_counter() - start
        self._journal.add(record_of(self._expected, self._journal.rows + 1, y, LEVEL, seconds=seconds))


def demonstrate(name: str, model: str, tell: Callable[[str], object], limit: int) -> Shown:
    """One stream, predicted by our regressor and by each candidate of River's."""
    stream = source(name)
    try:
        examples = stream.rows(limit)
    except ImportError as error:
        raise ConfigError(
            "The streams of the demonstration come with River: `pip install 'inctnp[river]'`, or look at "
            "`inctnp demo --functions`, which takes nothing."
        ) from error
    tell(f"{name}: {len(examples):,} rows, by inctnp")
    journal = Journal(LEVEL)
    ours = measure(Watched(Ours(StreamingRegressor(model, lags=stream.lags)), journal), examples)
    theirs = {}
    for rival in CANDIDATES:
        tell(f"{name}: {len(examples):,} rows, by {RIVALS[rival][0]}")
        theirs[rival] = measure(RIVALS[rival][1](stream.lags, len(examples), 0), examples)
    best = max(CANDIDATES, key=lambda rival: theirs[rival].log_score)
    return Shown(name, stream.about, ours, f"River: {best}", theirs[best], journal)


def report(shown: Shown, model: str, path: Path) -> None:
    """The page of one stream."""
    ours, theirs = shown.ours, shown.theirs
    note = (
        f"In units of the outcomes' standard deviation, without the first {UNSCORED} rows: log score "
        f"{ours.log_score:.3f} and CRPS {ours.crps:.3f}, beside {theirs.log_score:.3f} and {theirs.crps:.3f} of "
        f"{shown.rival}."
    )
    write_report(path, shown.about, shown.journal, {"model": model, "stream": shown.stream}, [note])
