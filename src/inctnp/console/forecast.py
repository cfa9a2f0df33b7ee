"""One stream or many behind one question: what is predicted for this row, before it is learned?"""

from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inctnp.predictive.base import Predictive
from inctnp.regressor import RegressorSettings, StreamingBank, StreamingRegressor
from inctnp.regressor.monitor import Monitor
from inctnp.rows import Example

Waiting = list[list[Any]]
"""Questions whose answers are still on their way: key, ticket, outcome."""
Key = str | None
"""Of the stream a row belongs to; None where there is only one."""
MOST_ALARMS = 50
"""Kept for the report."""


class Forecast(ABC):
    """Predicts rows and learns them, each `delay` rows of its stream later."""

    def __init__(self, delay: int = 0, waiting: Waiting | None = None) -> None:
        self.delay = delay
        self.alarms = deque[str](maxlen=MOST_ALARMS)
        """What was noticed when outcomes stopped looking like predictions, the newest last."""
        self._news: list[str] = []
        self._queues: dict[Key, deque[tuple[int | None, float | None]]] = defaultdict(deque)
        for key, ticket, y in waiting or []:
            self._queues[key].append((ticket, y))

    def take(self, example: Example) -> Predictive:
        """What was predicted for a row; its outcome, if known, is learned in its turn."""
        predictive, ticket = self._ask(example) if example.y is not None else (self.asked([example])[0], None)
        queue = self._queues[example.key]
        queue.append((ticket, example.y))
        while len(queue) > self.delay:
            self._learn(example.key, *queue.popleft())
        return predictive

    def news(self) -> list[str]:
        """Alarms since somebody asked last."""
        told, self._news = self._news, []
        return told

    @property
    def waiting(self) -> Waiting:
        """What is not learned yet although it was read."""
        return [[key, ticket, y] for key, queue in self._queues.items() for ticket, y in queue]

    def _learn(self, key: Key, ticket: int | None, y: float | None) -> None:
        if ticket is None or y is None:
            return
        before = self._monitor(key).alarms[-1:]
        self._tell(key, ticket, y)
        for alarm in self._monitor(key).alarms[-1:]:
            if [alarm] != before:
                whose = f" of {key!r}" if key is not None else ""
                self._news.append(f"Row {alarm.row:,}{whose}: {alarm.message}")
                self.alarms.append(self._news[-1])

    @abstractmethod
    def asked(self, examples: Sequence[Example]) -> list[Predictive]:
        """What is predicted for rows, each as if it came next; nothing changes."""

    @abstractmethod
    def describe(self) -> dict[str, dict[str, Any]]:
        """What it has seen, under headings."""

    @property
    @abstractmethod
    def settings(self) -> RegressorSettings: ...

    @abstractmethod
    def save(self, path: Path) -> None: ...

    @abstractmethod
    def close(self) -> None:
        """After the last row."""

    @abstractmethod
    def _ask(self, example: Example) -> tuple[Predictive, int]: ...

    @abstractmethod
    def _tell(self, key: Key, ticket: int, y: float) -> None: ...

    @abstractmethod
    def _monitor(self, key: Key) -> Monitor: ...


class OneStream(Forecast):
    """All rows belong together."""

    def __init__(self, regressor: StreamingRegressor, delay: int = 0, waiting: Waiting | None = None) -> None:
        super().__init__(delay, waiting)
        self.regressor = regressor

    def asked(self, examples: Sequence[Example]) -> list[Predictive]:
        together = self.regressor.predict([example.row for example in examples])
        return [together.reshape(lambda values, at=at: values[at : at + 1]) for at in range(len(examples))]

    def describe(self) -> dict[str, dict[str, Any]]:
        rows = {
            "learned": len(self.regressor),
            "held": self.regressor.held,
            "bytes in memory": self.regressor.nbytes,
            "alarms": len(self.regressor.monitor.alarms),
        }
        scores = scores_of(self.regressor.monitor)
        return {"rows": rows, "scores": scores, "columns": dict(self.regressor.columns.kinds)}

    @property
    def settings(self) -> RegressorSettings:
        return self.regressor.settings

    def save(self, path: Path) -> None:
        self.regressor.save(path)

    def close(self) -> None:
        pass

    def _ask(self, example: Example) -> tuple[Predictive, int]:
        ticket = self.regressor.ask(example.row)
        return self.regressor.asked(ticket), ticket

    def _tell(self, key: Key, ticket: int, y: float) -> None:
        self.regressor.tell(ticket, y)

    def _monitor(self, key: Key) -> Monitor:
        return self.regressor.monitor


class ManyStreams(Forecast):
    """Rows of different keys know nothing of each other."""

    def __init__(self, bank: StreamingBank, delay: int = 0, waiting: Waiting | None = None) -> None:
        super().__init__(delay, waiting)
        self.bank = bank

    def asked(self, examples: Sequence[Example]) -> list[Predictive]:
        return [self.bank.predict(str(example.key), [example.row]) for example in examples]

    def describe(self) -> dict[str, dict[str, Any]]:
        rows = {"learned": sum(self.bank.rows(key) for key in self.bank), "streams": len(self.bank)}
        scores = {key: scores_of(self.bank.monitor(key)) for key in self.bank}
        return {"rows": rows, **{f"scores of {key!r}": found for key, found in scores.items()}}

    @property
    def settings(self) -> RegressorSettings:
        return self.bank.settings

    def save(self, path: Path) -> None:
        self.bank.save(path)

    def close(self) -> None:
        self.bank.close()

    def _ask(self, example: Example) -> tuple[Predictive, int]:
        key = str(example.key)
        ticket = self.bank.ask(key, example.row)
        return self.bank.asked(key, ticket), ticket

    def _tell(self, key: Key, ticket: int, y: float) -> None:
        self.bank.tell(str(key), ticket, y)

    def _monitor(self, key: Key) -> Monitor:
        return self.bank.monitor(str(key))


def scores_of(monitor: Monitor) -> dict[str, Any]:
    """Those that are known."""
    scores = vars(monitor.scores)
    return {name: value for name, value in scores.items() if name != "pit" and value == value}
