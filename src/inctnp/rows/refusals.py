"""What happens to a broken row: it ends the reading, or it is counted and left out."""

from collections.abc import Callable
from dataclasses import dataclass, field

from inctnp.errors import DataError

Refuse = Callable[[DataError], None]
"""Given what is wrong with a row; raises to stop, returns to go on without the row."""

TOLD = 5
"""Broken rows that are told in full; the rest are counted."""


def stop(error: DataError) -> None:
    """The first broken row is the last."""
    raise error


@dataclass
class Skipped:
    """Broken rows are left out and counted."""

    tell: Callable[[str], object] = field(default=lambda message: None)
    count: int = 0

    def __call__(self, error: DataError) -> None:
        self.count += 1
        if self.count <= TOLD:
            self.tell(f"skipped: {error}")
        if self.count == TOLD:
            self.tell("further broken rows are counted and not shown")
