"""The command line: each command parses, calls one library function and prints what came back."""

from pathlib import Path
from typing import Annotated

import typer

from inctnp.atomic import cache_dir

app = typer.Typer(no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False)


@app.callback()
def main() -> None:
    """Streaming probabilistic regression with transformer neural processes."""


@app.command()
def train(
    setting: Annotated[str, typer.Argument(help="Data setting, such as rbf-64.")],
    model: Annotated[str, typer.Option(help="Which model to train.")] = "inctnp-seq",
    variant: Annotated[str, typer.Option(help="fast, paper or compute-equal.")] = "fast",
    budget: Annotated[float, typer.Option(help="Fraction of the recipe's steps.")] = 1.0,
    threads: Annotated[int, typer.Option(help="Processor threads to use.")] = 1,
    directory: Annotated[Path | None, typer.Option(help="Where the run is kept; the user cache if not given.")] = None,
) -> None:
    """Train a model, or go on with a run that was interrupted."""
    import torch

    from inctnp.training.loop import Report, Training
    from inctnp.training.recipes import recipe

    torch.set_num_threads(threads)
    chosen = recipe(setting, model, variant, budget)
    where = directory or cache_dir() / "runs" / f"{setting}-{variant}" / f"{model}-{chosen.hash}"

    def tell(report: Report) -> None:
        gap = "" if report.gap is None else f"  gap {report.gap:.4f}"
        typer.echo(
            f"{report.step:>7}/{chosen.steps}  loss {report.loss:.4f}  held-out {report.log_likelihood:.4f}{gap}"
            f"  {report.steps_per_second:.2f} steps/s  {report.seconds / 3600:.2f} h"
        )

    typer.echo(f"run {where}")
    Training(recipe=chosen, directory=where, tell=tell).run()
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


@app.command()
def models() -> None:
    """List the models that ship with the package."""
    from inctnp.pretrained.registry import HOME, names
    from inctnp.pretrained.weights import read_config

    for name in names():
        about = read_config(HOME / name)["about"]
        held_out = about.get("held_out", {})
        gap = f"  gap to the optimum {held_out['gap']:.4f}" if "gap" in held_out else ""
        typer.echo(f"{name}  {about.get('steps', '?')} steps  held-out {held_out.get('log_likelihood', '?')}{gap}")
