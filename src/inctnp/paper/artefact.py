"""An artefact: a table or figure of the paper as what to measure, how to tell it and how to draw it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inctnp.errors import UnknownNameError
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell
from inctnp.paper.markdown import Block
from inctnp.paper.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALES = ("smoke", "cpu", "paper")
"""Seconds for a test of everything; at most about half an hour each on two cores; the full protocol."""


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """One table or figure; artefacts of the same study share its rows."""

    name: str
    """As typed: `table1`, `fig3`."""
    title: str
    shows: str
    """One or two sentences: what is measured, and what the paper finds."""
    study: str
    """The file its rows go to."""
    settings: Mapping[str, Any]
    """A frozen dataclass for each of `SCALES`."""
    plan: Callable[[Any, Cast], Iterable[Cell]]
    """The cells of these settings."""
    tell: Callable[[Results], Iterable[Block]]
    """Tables and remarks, from rows alone."""
    draw: Callable[[Results], "Figure"] | None = None
    """A picture, from rows alone."""
    counted: bool = False
    """Whether it counts work, so that no trained weights are needed."""

    def at(self, scale: str) -> Any:
        """The settings of a scale."""
        if scale not in self.settings:
            raise UnknownNameError(f"No scale is called {scale!r}: choose from {', '.join(SCALES)}.")
        return self.settings[scale]

    @property
    def label(self) -> str:
        """As the paper calls it.

        >>> from inctnp.paper.catalogue import ARTEFACTS
        >>> ARTEFACTS["fig3"].label
        'Figure 3'
        """
        kind = "Table" if self.name.startswith("table") else "Figure"
        return f"{kind} {self.name.removeprefix('table').removeprefix('fig')}"


def scales(smoke: Any, cpu: Any, paper: Any) -> dict[str, Any]:
    """Settings by scale."""
    return dict(zip(SCALES, (smoke, cpu, paper), strict=True))
