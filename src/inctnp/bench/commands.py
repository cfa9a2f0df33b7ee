"""`inctnp bench SUBJECT`: measure, print the table, on request write rows and picture."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from inctnp.bench.measured import Measured, Subject

SUBJECTS = {
    "streaming": "A row and a question against the length of the stream, beside encoding again and copying caches.",
    "sampling": "Joint draws of many targets, the past shared or copied.",
    "density": "Joint densities in one masked pass, and one target after the other.",
    "training": "A training step beside the plain one, and its share of what the processor can multiply.",
    "stream-cli": "Rows a second through `inctnp stream`, and what it takes to start.",
    "many-streams": "Many streams of different lengths in one call, beside a loop.",
    "endless": "A million rows under a window: time and memory stay what they were.",
    "startup": "Importing, asking for help, and the first prediction from a cold start.",
    "peers": "Seconds a row and a question, and quality, beside other regressors on the same stream.",
}
bench = typer.Typer(no_args_is_help=True, add_completion=False)


@bench.callback()
def _bench() -> None:
    """Measure on this machine what things cost: medians of interleaved runs, with ratios."""


def command_for(name: str) -> Callable[..., None]:
    """The command of a subject; all have the same options."""

    def command(  # noqa: PLR0913  # one parameter per option
        as_json: Annotated[bool, typer.Option("--json", help="Print rows as JSON instead of tables.")] = False,
        plot: Annotated[bool, typer.Option("--plot", help="Draw bench-SUBJECT.png as well.")] = False,
        out: Annotated[Path | None, typer.Option(help="Folder for the picture and for bench-SUBJECT.json.")] = None,
        sizes: Annotated[str, typer.Option(help="Sizes, with commas between.")] = "",
        repeats: Annotated[int, typer.Option(min=2, help="Samples of each variant.")] = 15,
        budget: Annotated[float, typer.Option(help="Seconds for one piece of work at one size.")] = 20.0,
        threads: Annotated[int, typer.Option(min=1, help="1 counts processor time, more count wall time.")] = 1,
        quick: Annotated[bool, typer.Option("--quick", help="Small sizes and few samples, for a first look.")] = False,
    ) -> None:
        import torch

        from inctnp.bench.measured import Settings

        torch.set_num_threads(threads)
        subject = load(name)
        chosen = tuple(int(size) for size in sizes.split(",") if size) or (subject.quick if quick else subject.sizes)
        settings = Settings(sizes=chosen, repeats=2 if quick else repeats, budget=1.0 if quick else budget)
        rows = list(subject.measure(settings))
        show(name, subject, rows, as_json)
        keep(name, subject, rows, out, plot)

    return command


def load(name: str) -> "Subject":
    """Import a subject when it is asked for."""
    return import_module(f"inctnp.bench.{name.replace('-', '_')}").SUBJECT


def show(name: str, subject: "Subject", rows: "list[Measured]", as_json: bool) -> None:
    """On the screen."""
    from rich.console import Console

    from inctnp.bench.tables import tables
    from inctnp.bench.timing import machine

    if as_json:
        typer.echo(json.dumps(_document(name, rows), indent=1))
    else:
        console = Console(width=150)
        console.print(*tables(subject, rows), ", ".join(f"{key} {value}" for key, value in machine().items()))


def keep(name: str, subject: "Subject", rows: "list[Measured]", out: Path | None, plot: bool) -> None:
    """In files, where they were asked for."""
    from inctnp.atomic import write_atomically
    from inctnp.bench.plots import draw

    if out is not None:
        text = json.dumps(_document(name, rows), indent=1) + "\n"
        write_atomically(out / f"bench-{name}.json", lambda path: path.write_text(text, encoding="utf-8"))
    if plot:
        picture = (out or Path()) / f"bench-{name}.png"
        draw(subject, rows, picture)
        typer.echo(f"Picture: {picture}", err=True)


def _document(name: str, rows: "list[Measured]") -> dict[str, Any]:
    from inctnp.bench.timing import machine

    return {"subject": name, "machine": machine(), "rows": [row.as_row() for row in rows]}


for _name, _about in SUBJECTS.items():
    bench.command(_name, help=_about)(command_for(_name))
