"""What a benchmark is asked for and what it answers: rows, each of one variant of one piece of work."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from inctnp.bench.timing import Timing


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How much to measure."""

    sizes: tuple[int, ...]
    """Rows seen by the stream, unless the subject says otherwise."""
    repeats: int = 15
    budget: float = 20.0
    """Seconds for all variants of one piece of work at one size."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One variant of one piece of work at one size."""

    work: str
    size: int
    variant: str
    timing: Timing | None = None
    facts: Mapping[str, float] = field(default_factory=dict)
    """Whatever else is known: bytes held, quality, rates."""

    def as_row(self) -> dict[str, Any]:
        """Flat, for JSON."""
        spent = {} if self.timing is None else vars(self.timing)
        return {"work": self.work, "size": self.size, "variant": self.variant, **spent, **self.facts}


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A benchmark: how it measures, and what its variants are compared with."""

    title: str
    ours: str
    """The variant others are set in relation to."""
    measure: Callable[[Settings], Iterator[Measured]]
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    """Sizes for a first look, seconds in all."""
    size_is: str = "rows seen"
    shows_memory: bool = False
    """Whether tables say what the work needed on top of what was held."""


def all_of(
    work: str, size: int, timings: Mapping[str, Timing], facts: Mapping[str, Mapping[str, float]] | None = None
) -> Iterator[Measured]:
    """Timings of all variants as rows."""
    for variant, timing in timings.items():
        yield Measured(work=work, size=size, variant=variant, timing=timing, facts=(facts or {}).get(variant, {}))
