"""From rows to findings: what a measurement says of a claim, never more than its number does."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from inctnp.metrics.growth import cumulative
from inctnp.metrics.score import Score
from inctnp.paper.cost_curves import FLOPS, SECONDS, along, counted_degree, grown, power
from inctnp.paper.markdown import number, with_error
from inctnp.paper.plotting import label
from inctnp.paper.results import Results

SURE = 2.0
"""Standard errors by which a number has to clear its threshold."""
LEVEL = 0.02
"""Nats per target within which two models count as level: about the largest shortfall that the paper calls so."""
SIMILAR = 1.5
"""Up to so many times the reference's, a gap between orders counts as comparable to it."""
STREAMED = "ll@"


@dataclass(frozen=True)
class Finding:
    """A number in words, and whether it supports the claim."""

    words: str
    holds: bool
    counted: bool = False
    """Exact work or bytes, which no budget of training changes."""


Judge = Callable[[Results], Iterable[Finding]]
"""Every number of an artefact that bears on a claim; none where nothing was measured."""


def ahead(model: str, reference: str, by: float = 0.0, **where: str) -> Judge:
    """A log-likelihood above the reference's by more than `by` nats, on every kind of data; of streams at their end."""

    def judge(results: Results) -> Iterator[Finding]:
        for data, here in _by_data(results.where(**where)):
            name = (_lengths(here) or ["ll"])[-1]
            apart = here.where(model=model).difference(here.where(model=reference), name)
            if apart is not None:
                at = f" after {name.removeprefix(STREAMED)}" if name != "ll" else ""
                words = f"{data}{at}: {label(model)} − {label(reference)} = {with_error(apart, signed=True)}"
                yield Finding(words.removeprefix(": "), _sure(apart, by))

    return judge


def level(model: str, reference: str = "tnp-d", **where: str) -> Judge:
    """Ahead, or behind by less than counts."""
    return ahead(model, reference, by=-LEVEL, **where)


def grows_better(model: str, since_last: bool = False) -> Judge:
    """A stream's log-likelihood rises from its first to its last length; or does not fall since the length before."""

    def judge(results: Results) -> Iterator[Finding]:
        for data, here in _by_data(results):
            names = _lengths(here.where(model=model))
            if len(names) > 1:
                first, last = names[-2] if since_last else names[0], names[-1]
                gain = here.where(model=model).difference(here.where(model=model), last, first)
                if gain is not None:
                    span = f"from {first.removeprefix(STREAMED)} to {last.removeprefix(STREAMED)}"
                    words = f"{data}, {span}: {label(model)} {with_error(gain, signed=True)}".removeprefix(", ")
                    yield Finding(words, _sure(gain, -LEVEL if since_last else 0.0))

    return judge


def below(name: str, model: str, reference: str, factor: float = 1.0, **where: str) -> Judge:
    """A quantity is smaller than so many times the reference's, on the tasks that both met."""

    def judge(results: Results) -> Iterator[Finding]:
        mine, theirs = (results.where(**where, model=each) for each in (model, reference))
        room = theirs.difference(mine, name, factor=factor)
        if room is not None:
            words = [
                f"{label(each)} {with_error(here.score(name))}" for each, here in ((model, mine), (reference, theirs))
            ]
            yield Finding(", ".join(words), _sure(room, 0.0))

    return judge


def grows_with(kind: str, model: str, degree: int, whole_stream: bool = False) -> Judge:
    """Counted work is a polynomial of this degree in the length of the context; of a whole stream, one degree more."""

    def judge(results: Results) -> Iterator[Finding]:
        lengths, counts = along(results.where(cost=kind, model=model), FLOPS)
        if lengths:
            step = counted_degree(lengths, counts)
            counted = None if step is None else step + whole_stream
            fitted = grown(lengths, cumulative(lengths, counts)) if whole_stream else counted
            words = f"{kind} of {label(model)}: {power(counted, 0)}, fitted {power(fitted)}"
            yield Finding(words, counted == degree, counted=True)

    return judge


def times_slower(slow: str, fast: str, factor: float, since: int = 0, **where: str) -> Judge:
    """Seconds of a step at the longest length that both were timed at, if it is at least `since`."""

    def judge(results: Results) -> Iterator[Finding]:
        (slow_at, slow_took), (fast_at, fast_took) = (
            along(results.where(**where, model=model), SECONDS) for model in (slow, fast)
        )
        shared = [n for n in slow_at if n in fast_at and n >= since]
        if shared:
            ratio = slow_took[slow_at.index(shared[-1])] / fast_took[fast_at.index(shared[-1])]
            words = f"at {shared[-1]} points {label(slow)} takes {number(ratio, 1)} times as long as {label(fast)}"
            yield Finding(words, ratio >= factor)

    return judge


def all_of(*judges: Judge) -> Judge:
    """Everything that several judges find."""
    return lambda results: [finding for judge in judges for finding in judge(results)]


def _by_data(results: Results) -> Iterator[tuple[str, Results]]:
    kinds = [data for data in results.labels("data") if data != "cost"]
    yield from ((data, results.where(data=data)) for data in kinds)
    if not kinds and results.rows:
        yield "", results


def _lengths(results: Results) -> list[str]:
    asked = [name for name in results.names() if name.startswith(STREAMED)]
    return sorted(asked, key=lambda name: int(name.removeprefix(STREAMED)))


def _sure(score: Score, threshold: float) -> bool:
    """Clear of the threshold by more than noise; what has no standard error is sure of nothing."""
    return score.mean - SURE * score.sem > threshold
