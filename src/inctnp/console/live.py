"""A stream on the screen while it runs, and in a few lines when it ends. All of it goes to the standard error."""

import math
import sys
import time
from abc import ABC, abstractmethod
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from inctnp.report import Journal
from inctnp.report.journal import INSIDE, SCORE, WIDTH
from inctnp.report.words import number, rmse, share

BETWEEN = 0.25
"""Seconds between two looks of the live line."""


class Screen(ABC):
    """Shows how a stream goes, while it is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def look(self, journal: Journal) -> None:
        """After every row."""

    @abstractmethod
    def close(self) -> None:
        """After the last."""


class Quiet(Screen):
    """Nobody looks."""

    def look(self, journal: Journal) -> None:
        pass

    def close(self) -> None:
        pass


class LiveLine(Screen):
    """One line that keeps moving."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._live.start()
        self._start = self._shown = time.monotonic()

    def look(self, journal: Journal) -> None:
        now = time.monotonic()
        if now - self._shown < BETWEEN:
            return
        self._shown = now
        speed = journal.rows / (now - self._start)
        self._live.update(
            Text(f"{line(journal)}   {speed:,.0f} rows/s", no_wrap=True, overflow="ellipsis"), refresh=True
        )

    def close(self) -> None:
        self._live.stop()


def choose_screen(records_on_screen: bool) -> Screen:
    """A live line for a terminal that shows nothing else."""
    console = Console(stderr=True)
    shared = records_on_screen and sys.stdout.isatty()
    return LiveLine(console) if console.is_terminal and not shared else Quiet()


def line(journal: Journal) -> str:
    """The scores so far.

    >>> line(Journal())
    '0 rows   RMSE –   log score –   inside 90% interval –   width –'
    """
    wide = journal.total(WIDTH) if journal.rows else math.nan
    return (
        f"{journal.rows:,} rows   RMSE {number(rmse(journal))}   log score {number(journal.total(SCORE))}   "
        f"inside {journal.level:.0%} interval {share(journal.total(INSIDE))}   width {number(wide)}"
    )


def summary(journal: Journal, seconds: float) -> str:
    """The last line."""
    speed = journal.rows / seconds if seconds > 0 else math.nan
    return f"{line(journal)}   {number(journal.latency_below(0.5) * 1e3)} ms a row   {speed:,.0f} rows/s"
