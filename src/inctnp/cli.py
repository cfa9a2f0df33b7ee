"""The command line: each command parses, calls one library function and prints what came back."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import inctnp
from inctnp.console import commands
from inctnp.errors import IncTNPError
from inctnp.paper.commands import paper
from inctnp.training.commands import export_run, train


class OurErrors(TyperGroup):
    """A user's mistake ends with our message and status 2, never with a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except IncTNPError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(2) from error


app = typer.Typer(
    cls=OurErrors,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> bool:
    if asked:
        typer.echo(f"inctnp {inctnp.__version__}")
        raise typer.Exit
    return asked


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
) -> None:
    """Streaming probabilistic regression with transformer neural processes."""


app.command()(commands.stream)
app.command()(commands.predict)
app.command()(commands.inspect)
app.command()(commands.models)
app.add_typer(train, name="train")
app.command("export")(export_run)
app.command()(paper)


@app.command()
def demo(
    picture: Annotated[Path, typer.Option(help="Where to draw one of the streams.")] = Path("inctnp-demo.png"),
) -> None:
    """Stream functions the model has never seen and compare each prediction with the exact posterior's."""
    import torch
    from rich.console import Console
    from rich.table import Table

    from inctnp.demo import STREAMS, demonstrate, draw

    # One row is too little work to share; waiting for a second thread on a busy machine costs a hundredfold.
    torch.set_num_threads(1)
    shown = demonstrate()
    table = Table(title=f"{STREAMS} streams, every row predicted before it is learned")
    for column in ("rows", "log score", "best possible", "inside 90 % interval"):
        table.add_column(column, justify="right")
    for stage in shown.stages:
        scores = f"{stage.log_score:+.3f}", f"{stage.best_log_score:+.3f}", f"{stage.coverage:.1%}"
        table.add_row(f"{stage.first + 1}-{stage.last + 1}", *scores)
    console = Console()
    console.print(table)
    console.print(f"One stream alone: {shown.seconds_per_row * 1e3:.2f} ms to predict and learn a row.")
    draw(picture)
    console.print(f"Picture: {picture}")
