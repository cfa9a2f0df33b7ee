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
