"""The command line: each command parses, calls one library function and prints what came back."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import inctnp
from inctnp.bench.commands import bench
from inctnp.console import commands
from inctnp.errors import IncTNPError
from inctnp.paper.commands import paper
from inctnp.quality.command import quality
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
app.add_typer(bench, name="bench")
app.command("export")(export_run)
app.command()(paper)
app.command()(quality)


@app.command()
def demo(
    model: Annotated[str, typer.Option(help="A shipped model, or a folder.")] = "tabular",
    report: Annotated[Path, typer.Option(help="Page about one of the streams.")] = Path("inctnp-demo.html"),
    functions: Annotated[
        bool, typer.Option("--functions", help="Drawn functions, beside the exact posterior.")
    ] = False,
    picture: Annotated[Path, typer.Option(help="With --functions: where to draw one.")] = Path("inctnp-demo.png"),
) -> None:
    """Stream real data through the shipped model, next to River's best regressor; nothing is downloaded."""
    import torch

    from inctnp.demo.show import show_functions, show_streams

    # One row is too little work to share; waiting for a second thread on a busy machine costs a hundredfold.
    torch.set_num_threads(1)
    if functions:
        show_functions(picture)
    else:
        show_streams(model, report)
