"""Commands for people with a stream: each parses, calls one function and prints what came back."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from inctnp.errors import ConfigError

TABLE, MODEL = "About the table", "About predictions"
"""Headings of the help."""

File = Annotated[
    str, typer.Argument(metavar="FILE|-", help="CSV, TSV, JSON lines or Parquet, also .gz or .zst; - is stdin.")
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Leave a column out; as often as needed.", rich_help_panel=TABLE),
]
Category = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column of names even where they look like numbers.", rich_help_panel=TABLE),
]
Time = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column of moments; numbers in it count from 1970.", rich_help_panel=TABLE),
]
TimeFormat = Annotated[
    str | None,
    typer.Option(metavar="PATTERN", help="How moments are written, as '%d/%m/%Y %H:%M'.", rich_help_panel=TABLE),
]
Interval = Annotated[
    float, typer.Option(metavar="LEVEL", help="Share of outcomes between lower and upper.", rich_help_panel=MODEL)
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="PATH", help="Where predictions go: .jsonl, .csv or .parquet; stdout if not given."),
]
OnError = Annotated[
    Literal["stop", "skip"],
    typer.Option(help="A broken row ends the stream, or is told, counted and left out.", rich_help_panel=TABLE),
]
Format = Annotated[
    Literal["csv", "jsonl", "parquet"] | None,
    typer.Option(help="Of the input, if looking is not enough.", rich_help_panel=TABLE),
]
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="Between values; found in the header if not given.", rich_help_panel=TABLE),
]
Decimal = Annotated[Literal[".", ","], typer.Option(help="The decimal sign.", rich_help_panel=TABLE)]
Encoding = Annotated[str, typer.Option(metavar="NAME", help="Of the text, as latin-1.", rich_help_panel=TABLE)]


def _model_names() -> list[str]:
    from inctnp.pretrained.registry import ALIASES, names

    return [*(short for short, long in ALIASES.items() if long in names()), *names()]


def stream(  # noqa: PLR0913  # one parameter per option
    file: File,
    target: Annotated[str, typer.Option(metavar="COLUMN", help="What to predict.")],
    key: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="One stream for each value of this column.", rich_help_panel=TABLE),
    ] = None,
    time: Time = None,
    time_format: TimeFormat = None,
    drop: Drop = None,
    category: Category = None,
    lags: Annotated[
        str,
        typer.Option(
            metavar="1,2,24", help="Earlier outcomes that are inputs too; none for none.", rich_help_panel=MODEL
        ),
    ] = "1",
    delay: Annotated[
        int, typer.Option(metavar="ROWS", help="Outcomes become known so many rows later.", rich_help_panel=MODEL)
    ] = 0,
    interval: Interval = 0.9,
    model: Annotated[
        str,
        typer.Option(
            help="A shipped model, see `inctnp models`, or a folder.",
            autocompletion=_model_names,
            rich_help_panel=MODEL,
        ),
    ] = "tabular",
    max_points: Annotated[
        int, typer.Option(metavar="ROWS", help="Rows held in memory; 0 for all.", rich_help_panel=MODEL)
    ] = 1024,
    recalibration: Annotated[
        Literal["none", "temperature", "conformal"] | None,
        typer.Option(help="Correct intervals by how past ones did.", rich_help_panel=MODEL),
    ] = None,
    alarm: Annotated[
        Literal["off", "ignore", "restart"] | None,
        typer.Option(
            help="Watch for outcomes that stop looking like predictions: note it, or keep newest rows only.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    state: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Saved here at the end; gone on from if there.")
    ] = None,
    save_every: Annotated[float, typer.Option(metavar="SECONDS", help="Also save the state this often.")] = 60.0,
    out: Out = None,
    report: Annotated[Path | None, typer.Option(metavar="PATH", help="Write a page of HTML about the stream.")] = None,
    on_error: OnError = "stop",
    format: Format = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
) -> None:
    """Predict every row of a table or a pipe, then learn it.

    One record a row: row, y, mean, std, lower, upper, log_score. Rows without a target are predicted and not learned.
    Ctrl-C stops after the row at hand; with --state the same command goes on from there.
    """
    from inctnp.console.job import Job
    from inctnp.console.run import stream as run
    from inctnp.pretrained.registry import find
    from inctnp.rows import Reading, Roles

    chosen = {"recalibration": recalibration, "alarm": alarm}
    settings: dict[str, Any] = {
        "model": find(model)[1],
        "lags": _lags(lags),
        "max_points": max_points or None,
        "level": interval,
        **{name: value for name, value in chosen.items() if value is not None},
    }
    reading = Reading(
        format=format,
        delimiter=_delimiter(delimiter),
        decimal=decimal,
        encoding=encoding,
        drop=frozenset(drop or []),
        as_text=frozenset([*(category or []), *([key] if key else [])]),
        time=time,
        time_format=time_format,
    )
    job = Job(
        source=file,
        reading=reading,
        roles=Roles(target=target, key=key),
        settings=settings,
        level=interval,
        delay=delay,
        out=out,
        state=state,
        report=report,
        on_error=on_error,
        save_every=save_every,
    )
    _one_thread()
    if status := run(job, _say):
        raise typer.Exit(status)


def predict(  # noqa: PLR0913  # one parameter per option
    file: File,
    state: Annotated[Path, typer.Option(metavar="PATH", help="What `inctnp stream --state` saved.")],
    interval: Interval = 0.9,
    out: Out = None,
    on_error: OnError = "stop",
    format: Format = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
) -> None:
    """Predict rows from a saved state, as if each came next. Nothing is learned and the state stays as it is."""
    from inctnp.console.predicting import Question, predict_rows
    from inctnp.rows import Reading

    reading = Reading(format=format, delimiter=_delimiter(delimiter), decimal=decimal, encoding=encoding)
    question = Question(source=file, state=state, reading=reading, level=interval, out=out, on_error=on_error)
    _one_thread()
    if status := predict_rows(question, _say):
        raise typer.Exit(status)


def inspect(
    state: Annotated[Path, typer.Argument(metavar="STATE", help="What `inctnp stream --state` saved.")],
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Say what a saved state has seen, how well it did, and how it is set."""
    from inctnp.console.inspecting import describe, print_description

    print_description(describe(state), as_json=json)


def models(json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> None:
    """List the models that ship with the package."""
    from inctnp.console.listing import print_models, shipped

    print_models(shipped(), as_json=json)


def _one_thread() -> None:
    # One row is too little work to share; waiting for a second thread on a busy machine costs a hundredfold.
    import torch

    torch.set_num_threads(1)


def _say(message: str) -> None:
    typer.echo(message, err=True)


def _delimiter(text: str | None) -> str | None:
    """As typed in a shell, where a tab is hard to type."""
    return {"\\t": "\t", "tab": "\t", "space": " "}.get(text, text) if text is not None else None


def _lags(text: str) -> tuple[int, ...]:
    if text.strip().lower() in ("", "none", "0"):
        return ()
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise ConfigError(f"Lags are whole numbers such as 1,2,24, or none, not {text!r}.") from error
