"""What `inctnp predict` does: ask a saved state about rows, and leave it as it was."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from inctnp.console.job import Say, check_level, refusal
from inctnp.console.memo import Memo
from inctnp.console.opening import known_rows, open_state
from inctnp.console.run import CLOSED_PIPE, let_go_of_the_pipe
from inctnp.console.sinks import open_sink
from inctnp.regressor import StreamingRegressor
from inctnp.report import Record, plainly, record_of
from inctnp.rows import Example, Reading, Roles, open_rows
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
    regressor, memo = open_state(question.state)
    refuse = refusal(question.on_error, say)
    table = open_rows(question.source, _as_learned(question.reading, memo), refuse)
    target = memo.choices.get("target", "")
    labelled = bool(target) and (table.columns is None or target in table.columns)
    examples = Roles(target=target, labelled=labelled).examples(table, refuse)
    examples = known_rows(question.state, regressor.columns.names, examples)
    sink = open_sink(question.out, keyed=False)
    try:
        for record in _records(regressor, examples, 1 if question.source == STDIN else TOGETHER, question.level):
            sink.put(record)
    except BrokenPipeError:
        let_go_of_the_pipe()
        return CLOSED_PIPE
    finally:
        sink.close()
    return 0


def _records(
    regressor: StreamingRegressor, examples: Iterator[Example], together: int, level: float
) -> Iterator[Record]:
    row = 0
    while batch := list(itertools.islice(examples, together)):
        predictive = regressor.predict([example.row for example in batch])
        for place, example in enumerate(batch):
            row += 1
            one = plainly(predictive.reshape(lambda values, at=place: values[at : at + 1]))
            yield record_of(one, row, example.y, level)


def _as_learned(reading: Reading, memo: Memo) -> Reading:
    chosen = memo.choices
    return replace(
        reading,
        drop=frozenset(chosen.get("drop", [])),
        as_text=frozenset(chosen.get("category", [])),
        time=chosen.get("time"),
        time_format=chosen.get("time_format"),
    )
