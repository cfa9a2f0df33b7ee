"""Going back along a stream: what was learned is learned again from the last mark before the row in question."""

from dataclasses import dataclass, field
from typing import Any

from inctnp.errors import RollbackError
from inctnp.regressor.learner import Asked, Learner

LEAST_APART = 32
MARKS = 4
"""Marks within the rows that can be undone: the more, the sooner one is back and the more is kept."""


@dataclass(frozen=True)
class Event:
    """Something that happened to a regressor: the name of its method, and what it was given."""

    name: str
    given: tuple[Any, ...]

    @property
    def learns(self) -> bool:
        return self.name != "ask"

    def happen_to(self, regressor: Any) -> None:
        """Again, or for the first time."""
        getattr(regressor, self.name)(*self.given)


@dataclass(frozen=True)
class Mark:
    """A regressor as it was, and everything that happened to it until the next mark."""

    rows: int
    """Learned by then."""
    learner: Learner
    asked: dict[int, Asked]
    next_ticket: int
    events: list[Event] = field(default_factory=list)


class Journal:
    """The newest marks: at least `depth` rows can be undone once so many have come."""

    def __init__(self, depth: int, marks: tuple[Mark, ...] = ()) -> None:
        self.depth = depth
        self.marks = list(marks)

    @property
    def apart(self) -> int:
        """Rows between two marks."""
        return max(LEAST_APART, -(-self.depth // MARKS))

    def room(self, rows: int) -> int:
        """Rows until the next mark is due."""
        return self.marks[-1].rows + self.apart - rows if self.marks else 0

    def begin(self, mark: Mark) -> None:
        """Set a mark; let go of those that are not needed to undo `depth` rows."""
        self.marks.append(mark)
        while len(self.marks) > 1 and self.marks[1].rows <= mark.rows - self.depth:
            del self.marks[0]

    def note(self, name: str, *given: Any) -> None:
        self.marks[-1].events.append(Event(name, given))

    def back_to(self, row: int) -> tuple[Mark, list[Event]]:
        """The last mark with no more than so many rows, from now on the newest, and what happened since."""
        known = [i for i, mark in enumerate(self.marks) if mark.rows <= row]
        if not known:
            kept = f"those since row {self.marks[0].rows} are" if self.marks else "none are"
            raise RollbackError(
                f"Row {row} cannot be undone: of the rows before, {kept} kept with undo={self.depth}. "
                "Begin with a larger undo; a regressor that was loaded keeps rows from then on."
            )
        mark, later = self.marks[known[-1]], self.marks[known[-1] :]
        del self.marks[known[-1] :]
        return mark, [event for each in later for event in each.events]

    def copy(self) -> "Journal":
        marks = (Mark(m.rows, m.learner, m.asked, m.next_ticket, [*m.events]) for m in self.marks)
        return Journal(self.depth, tuple(marks))
