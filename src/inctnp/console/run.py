"""What `inctnp stream` does: predict every row, then learn it, until the rows end or somebody says stop."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import inctnp
from inctnp.console.forecast import Forecast
from inctnp.console.job import Job, Say, check_place, refusal
from inctnp.console.live import Screen, choose_screen, summary
from inctnp.console.memo import Memo
from inctnp.console.opening import known_rows, open_forecast
from inctnp.console.place import new_rows
from inctnp.console.sinks import open_sink
from inctnp.errors import DataError, StorageError
from inctnp.report import Journal, Record, plainly, record_of, write_report
from inctnp.rows import Example, Skipped, Table, open_rows
from inctnp.rows.refusals import Refuse
from inctnp.rows.source import STDIN, InterruptedReading
from inctnp.training.interrupt import Interruption, interruptions

CLOSED_PIPE = 141
"""The status of a process that wrote to a pipe nobody reads any more, as shells know it."""


SELDOM = 20
"""Times as long as it takes to save a state pass until the next time: many streams are large."""


def stream(job: Job, say: Say) -> int:
    """Do it; the answer is the exit status."""
    refuse = refusal(job.on_error, say)
    with ExitStack() as opened:
        seen = opened.enter_context(interruptions())
        try:
            table = _table(job, refuse, seen)
            forecast, memo = open_forecast(job)
            opened.callback(forecast.close)
            examples = _examples(job, memo, table, refuse)
        except InterruptedReading:
            return 128 + seen.signal
        run = Run(job, forecast, memo, seen, say)
        try:
            status = run.through(examples)
        except DataError:
            run.finish(2)
            raise
    run.finish(status)
    if isinstance(refuse, Skipped) and refuse.count:
        say(f"{refuse.count:,} broken rows were skipped")
    return status


def _table(job: Job, refuse: Refuse, seen: Interruption) -> Table:
    for path in (job.state, job.report):
        if path is not None:
            check_place(path)
    table = open_rows(job.source, job.reading, refuse, stopped=lambda: bool(seen.signal))
    job.roles.check(table.columns, (job.reading.time,) if job.reading.time else ())
    return table


def _examples(job: Job, memo: Memo, table: Table, refuse: Refuse) -> Iterator[Example]:
    """The rows that a state has not seen."""
    examples = new_rows(job.roles.examples(table, refuse), job.source, memo)
    return known_rows(job.state, memo, examples) if job.state is not None else examples


class Run:
    """A stream on its way."""

    def __init__(self, job: Job, forecast: Forecast, memo: Memo, seen: Interruption, say: Say) -> None:
        self.job, self.forecast, self.memo, self.seen, self.say = job, forecast, memo, seen, say
        self.sink = open_sink(job.out, job.roles.key is not None, memo.rows)
        self.journal = Journal(job.level)
        self.start = time.monotonic()
        self.due = self.start + job.save_every
        """When the state is saved next."""
        if memo.rows:
            say(f"going on after row {memo.rows:,}")

    def through(self, examples: Iterator[Example]) -> int:
        """All rows there are; the exit status. Whatever ends it, what was learned is saved."""
        try:
            with choose_screen(self.job.out is None) as screen:
                self._each(examples, screen)
        except InterruptedReading:
            pass
        except BrokenPipeError:
            let_go_of_the_pipe()
            return self._saved(CLOSED_PIPE)
        except DataError:
            self._close()
            raise
        return self._saved(128 + self.seen.signal if self.seen.signal else 0)

    def finish(self, status: int) -> None:
        """The report and the last words."""
        if self.job.report is not None:
            write_report(self.job.report, self._title(), self.journal, self._settings(), [*self.forecast.alarms])
        if status == CLOSED_PIPE:
            return
        self.say(summary(self.journal, time.monotonic() - self.start))
        if self.seen.signal:
            way = "the same command goes" if self.job.state is not None else "with --state the next call would go"
            self.say(f"stopped after row {self.memo.rows:,}: {way} on from there")
        if self.journal.rows and not self.journal.outcomes:
            self.say(f"No row had a value in {self.job.roles.target!r}, so nothing was learned.")
        for path, what in ((self.job.out, "predictions"), (self.job.report, "report"), (self.job.state, "state")):
            if path is not None:
                self.say(f"{what}: {path}")

    def _each(self, examples: Iterator[Example], screen: Screen) -> None:
        for example in examples:
            begun = time.perf_counter()
            predictive = plainly(self.forecast.take(example))
            self.memo.taken(example)
            more = {"key": example.key, "seconds": time.perf_counter() - begun}
            record = record_of(predictive, self.memo.rows, example.y, self.job.level, **more)
            self.journal.add(record)
            self._put(record)
            for alarm in self.forecast.news():
                self.say(f"alarm: {alarm}")
            screen.look(self.journal)
            if self.seen.signal:
                return
            if self.sink.lasting and time.monotonic() > self.due:
                self._save()

    def _put(self, record: Record) -> None:
        try:
            self.sink.put(record)
        except BrokenPipeError:
            raise
        except OSError as error:
            kept = f" {self.job.state} is as it was saved last." if self.job.state else ""
            raise StorageError(f"Records cannot be written: {error.strerror or error}.{kept}") from error

    def _saved(self, status: int) -> int:
        self._close()
        return status

    def _close(self) -> None:
        self.sink.close()
        self._save()

    def _save(self) -> None:
        begun = time.monotonic()
        if self.job.state is not None:
            self.memo.write(self.job.state, self.forecast)
        now = time.monotonic()
        self.due = now + max(self.job.save_every, SELDOM * (now - begun))

    def _title(self) -> str:
        name = "standard input" if self.job.source == STDIN else Path(self.job.source).name
        return f"{self.job.roles.target} of {name}"

    def _settings(self) -> dict[str, Any]:
        first = self.memo.rows - self.journal.rows + 1
        rows = f"{first:,} to {self.memo.rows:,}" if self.journal.rows else "none"
        chosen = {name: value for name, value in self.job.choices.items() if value not in (None, [])}
        made = {"made": f"{datetime.now():%Y-%m-%d %H:%M}", "by": f"inctnp {inctnp.__version__}"}
        return {"rows": rows, **chosen, **made}


def let_go_of_the_pipe() -> None:
    """Python would complain when it flushes at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
