"""What `inctnp stream` does: predict every row, then learn it, until the rows end or somebody says stop."""

import os
import sys
import time
from collections.abc import Iterator
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
from inctnp.console.sinks import Sink, open_sink
from inctnp.errors import DataError, StorageError
from inctnp.report import Journal, Record, plainly, record_of, write_report
from inctnp.rows import Example, Skipped, open_rows
from inctnp.rows.refusals import Refuse
from inctnp.rows.source import STDIN, InterruptedReading
from inctnp.training.interrupt import Interruption, interruptions

CLOSED_PIPE = 141
"""The status of a process that wrote to a pipe nobody reads any more, as shells know it."""


def stream(job: Job, say: Say) -> int:
    """Do it; the answer is the exit status."""
    refuse = refusal(job.on_error, say)
    with interruptions() as seen:
        try:
            run, examples = _begun(job, refuse, seen, say)
        except InterruptedReading:
            return 128 + seen.signal
        try:
            status = run.through(examples)
        except DataError:
            run.finish(say, 2)
            raise
    run.finish(say, status)
    if isinstance(refuse, Skipped) and refuse.count:
        say(f"{refuse.count:,} broken rows were skipped")
    return status


def _begun(job: Job, refuse: Refuse, seen: Interruption, say: Say) -> tuple["Run", Iterator[Example]]:
    """Everything that can be wrong before the first row."""
    for path in (job.state, job.report):
        if path is not None:
            check_place(path)
    table = open_rows(job.source, job.reading, refuse, stopped=lambda: bool(seen.signal))
    job.roles.check(table.columns, (job.reading.time,) if job.reading.time else ())
    forecast, memo = open_forecast(job)
    examples = new_rows(job.roles.examples(table, refuse), job.source, memo)
    if memo.rows and job.state is not None:
        examples = known_rows(job.state, forecast.columns, examples)
        say(f"going on after row {memo.rows:,}")
    return Run(job, forecast, memo, open_sink(job.out, job.roles.key is not None, memo.rows), seen), examples


class Run:
    """A stream on its way."""

    def __init__(self, job: Job, forecast: Forecast, memo: Memo, sink: Sink, seen: Interruption) -> None:
        self.job, self.forecast, self.memo, self.sink, self.seen = job, forecast, memo, sink, seen
        self.journal = Journal(job.level)
        self.start = self.saved = time.monotonic()

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

    def finish(self, say: Say, status: int) -> None:
        """The report and the last words."""
        if self.job.report is not None:
            write_report(self.job.report, self._title(), self.journal, self._settings(), self._notes())
        if status == CLOSED_PIPE:
            return
        say(summary(self.journal, time.monotonic() - self.start))
        if self.journal.rows and not self.journal.outcomes:
            say(f"No row had a value in {self.job.roles.target!r}, so nothing was learned.")
        for path, what in ((self.job.out, "predictions"), (self.job.report, "report"), (self.job.state, "state")):
            if path is not None:
                say(f"{what}: {path}")

    def _each(self, examples: Iterator[Example], screen: Screen) -> None:
        for example in examples:
            begun = time.perf_counter()
            predictive = plainly(self.forecast.take(example))
            self.memo.taken(example)
            more = {"key": example.key, "seconds": time.perf_counter() - begun}
            record = record_of(predictive, self.memo.rows, example.y, self.job.level, **more)
            self.journal.add(record)
            self._put(record)
            screen.look(self.journal)
            if self.seen.signal:
                return
            if self.sink.lasting and time.monotonic() - self.saved > self.job.save_every:
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
        if self.job.state is not None:
            self.memo.write(self.job.state, self.forecast)
        self.saved = time.monotonic()

    def _title(self) -> str:
        name = "standard input" if self.job.source == STDIN else Path(self.job.source).name
        return f"{self.job.roles.target} of {name}"

    def _settings(self) -> dict[str, Any]:
        first = self.memo.rows - self.journal.rows + 1
        rows = f"{first:,} to {self.memo.rows:,}" if self.journal.rows else "none"
        chosen = {name: value for name, value in self.job.choices.items() if value not in (None, [])}
        made = {"made": f"{datetime.now():%Y-%m-%d %H:%M}", "by": f"inctnp {inctnp.__version__}"}
        return {"rows": rows, **chosen, **made}

    def _notes(self) -> list[str]:
        return self.forecast.alarms


def let_go_of_the_pipe() -> None:
    """Python would complain when it flushes at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
