"""What `inctnp predict` does: ask a saved state about rows, and leave it as it was."""

import itertools
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from inctnp.console.forecast import Forecast
from inctnp.console.job import Say, check_level, refusal
from inctnp.console.memo import Memo
from inctnp.console.opening import known_rows, open_state
from inctnp.console.run import CLOSED_PIPE, let_go_of_the_pipe
from inctnp.console.sinks import open_sink
from inctnp.report import Record, plainly, record_of
from inctnp.rows import Example, Reading, Roles, open_rows
from inctnp.rows.refusals import Refuse
from inctnp.rows.source import STDIN

TOGETHER = 64
"""Rows of a file that are asked at once."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One call of `inctnp predict`."""

    source: str
    state: Path
    reading: Reading
    """How to understand the file; which columns count was decided when the state was made."""
    level: float = 0.9
    out: Path | None = None
    on_error: str = "stop"

    def __post_init__(self) -> None:
        check_level(self.level)


def predict_rows(question: Question, say: Say) -> int:
    """Do it; the answer is the exit status."""
    forecast, memo = open_state(question.state)
    with closing(forecast):
        return _answered(question, forecast, memo, refusal(question.on_error, say))


def _answered(question: Question, forecast: Forecast, memo: Memo, refuse: Refuse) -> int:
    table = open_rows(question.source, _as_learned(question.reading, memo), refuse)
    target, key = memo.choices.get("target", ""), memo.choices.get("key")
    roles = Roles(target=target, key=key, labelled=table.columns is None or target in table.columns)
    roles.check(table.columns)
    examples = known_rows(question.state, memo, roles.examples(table, refuse))
    sink = open_sink(question.out, keyed=key is not None)
    try:
        for record in _records(forecast, examples, 1 if question.source == STDIN else TOGETHER, question.level):
            sink.put(record)
    except BrokenPipeError:
        let_go_of_the_pipe()
        return CLOSED_PIPE
    finally:
        sink.close()
    return 0


def _records(forecast: Forecast, examples: Iterator[Example], together: int, level: float) -> Iterator[Record]:
    row = 0
    while batch := list(itertools.islice(examples, together)):
        for example, predictive in zip(batch, forecast.asked(batch), strict=True):
            row += 1
            yield record_of(plainly(predictive), row, example.y, level, key=example.key)


def _as_learned(reading: Reading, memo: Memo) -> Reading:
    chosen = memo.choices
    return replace(
        reading,
        drop=frozenset(chosen.get("drop", [])),
        as_text=frozenset(chosen.get("category", [])),
        time=chosen.get("time"),
        time_format=chosen.get("time_format"),
    )
