"""One stream or many behind one question: what is predicted for this row, before it is learned?"""

from abc import ABC, abstractmethod
from collections import deque
from pathlib import Path
from typing import Any

from inctnp.predictive.base import Predictive
from inctnp.regressor import StreamingRegressor
from inctnp.rows import Example

Waiting = list[list[Any]]
"""Questions whose answers are still on their way: tickets and outcomes."""


class Forecast(ABC):
    """Predicts rows and learns them."""

    @abstractmethod
    def take(self, example: Example) -> Predictive:
        """What was predicted for a row; its outcome, if known, is learned."""

    @abstractmethod
    def save(self, path: Path) -> None: ...

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """Names of what was learned from."""

    @property
    @abstractmethod
    def alarms(self) -> list[str]:
        """What was noticed when outcomes stopped looking like predictions."""

    @property
    @abstractmethod
    def waiting(self) -> Waiting:
        """What is not learned yet although it was read."""


class OneStream(Forecast):
    """All rows belong together; outcomes arrive some rows late."""

    def __init__(self, regressor: StreamingRegressor, delay: int = 0, waiting: Waiting | None = None) -> None:
        self.regressor, self.delay = regressor, delay
        self._queue: deque[list[Any]] = deque(waiting or [])

    def take(self, example: Example) -> Predictive:
        if example.y is None:
            predictive, ticket = self.regressor.predict([example.row]), None
        else:
            ticket = self.regressor.ask(example.row)
            predictive = self.regressor.asked(ticket)
        self._queue.append([ticket, example.y])
        while len(self._queue) > self.delay:
            ticket, y = self._queue.popleft()
            if ticket is not None:
                self.regressor.tell(ticket, y)
        return predictive

    def save(self, path: Path) -> None:
        self.regressor.save(path)

    @property
    def columns(self) -> list[str]:
        return self.regressor.columns.names

    @property
    def alarms(self) -> list[str]:
        return [f"Row {alarm.row}: {alarm.message}" for alarm in self.regressor.monitor.alarms]

    @property
    def waiting(self) -> Waiting:
        return list(self._queue)
