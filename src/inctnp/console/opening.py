"""A forecast to go on with: from a saved state if there is one, else a fresh one."""

import itertools
from collections.abc import Iterator
from pathlib import Path

from inctnp.console.forecast import Forecast, ManyStreams, OneStream
from inctnp.console.job import Job
from inctnp.console.memo import Memo, read_memo
from inctnp.errors import MissingDataError, StateError
from inctnp.regressor import StreamingBank, StreamingRegressor
from inctnp.rows import Example


def open_forecast(job: Job) -> tuple[Forecast, Memo]:
    """The forecast and what is remembered of it."""
    if job.state is None or not job.state.exists():
        return fresh_forecast(job), Memo(choices=job.choices)
    forecast, memo = open_state(job.state)
    if not memo.choices:
        raise StateError(f"{job.state} was not saved by `inctnp stream`: go on with it in the program that made it.")
    for name, now in job.choices.items():
        if memo.choices.get(name) != now:
            raise StateError(
                f"The state in {job.state} was made with {name} {memo.choices.get(name)!r}, this call says {now!r}. "
                "Give the same options as before, or another --state to start afresh."
            )
    return forecast, memo


def fresh_forecast(job: Job) -> Forecast:
    """One that has seen nothing."""
    if job.roles.key is None:
        return OneStream(StreamingRegressor(**job.settings), job.delay)
    return ManyStreams(StreamingBank(**job.settings), job.delay)


def open_state(path: Path) -> tuple[Forecast, Memo]:
    """The forecast of a state, and what was remembered beside it."""
    if not path.exists():
        raise MissingDataError(
            f"There is no state at {path}: `inctnp stream FILE --target COLUMN --state {path}` makes it."
        )
    memo = read_memo(path) or Memo()
    delay = memo.choices.get("delay", 0)
    if memo.choices.get("key") is None:
        return OneStream(StreamingRegressor.load(path), delay, memo.waiting), memo
    return ManyStreams(StreamingBank.load(path), delay, memo.waiting), memo


def known_rows(path: Path, memo: Memo, examples: Iterator[Example]) -> Iterator[Example]:
    """The rows; a table that has nothing in common with the columns of a state is refused."""
    first = next(examples, None) if memo.columns else None
    if first is None:
        return examples
    if first.row and not set(memo.columns) & set(first.row):
        raise StateError(
            f"The state in {path} has learned from columns {', '.join(memo.columns[:6])}, and this table has none of "
            "them. Give the table it belongs to, or another --state to start afresh."
        )
    return itertools.chain([first], examples)
