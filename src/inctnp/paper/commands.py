"""`inctnp paper`: parse, call one library function, print what came back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inctnp.errors import ConfigError

if TYPE_CHECKING:
    from inctnp.paper.cast import Cast

DEFAULT_OUT = {"smoke": Path("smoke-results"), "cpu": Path("docs/results"), "paper": Path("docs/results/paper")}


def paper(  # noqa: PLR0913  # one parameter per option
    artefact: Annotated[str, typer.Argument(help="table1, fig3, ..., claims, all; `list` names them.")],
    scale: Annotated[str, typer.Option(help="smoke (seconds), cpu (minutes) or paper (the full protocol).")] = "cpu",
    out: Annotated[Path | None, typer.Option(help="Folder of pages and rows; docs/results for cpu.")] = None,
    models: Annotated[
        list[str] | None, typer.Option(help="Only these rows: tnp-d, inctnp-seq, wiski, ...; commas or several times.")
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(help="Weights of your own, as stations/tnp-d=FOLDER; may be given several times."),
    ] = None,
    threads: Annotated[int, typer.Option(help="Processor threads.")] = 1,
    draw_only: Annotated[bool, typer.Option("--draw-only", help="Write the pages of the rows there are.")] = False,
    trimmed: Annotated[
        bool, typer.Option("--trim", help="First drop rows of weights and settings that are not asked for any more.")
    ] = False,
) -> None:
    """Measure a table or figure of the paper, or go on where it stopped, and write its page.

    Rows that are there already are not computed again, unless the weights they came from are others now. HadISD is
    used where its station files are found.
    """
    import torch

    from inctnp.paper.artefact import SCALES
    from inctnp.paper.book import choose, make, names, trim
    from inctnp.paper.display import watched

    if artefact == "list":
        typer.echo("\n".join(names()))
        return
    if scale not in SCALES:
        raise ConfigError(f"No scale is called {scale!r}: choose from {', '.join(SCALES)}.")
    torch.set_num_threads(threads)
    folder = out or DEFAULT_OUT[scale]
    chosen, cast = choose(artefact), choose_cast(scale, models or [], weights or [])
    if trimmed:
        typer.echo(f"{trim(scale, cast, folder)} rows dropped")
    with watched() as watch:
        outcomes = make(chosen, scale, cast, folder, None if draw_only else watch)
    for outcome in outcomes:
        rows = f"{len(outcome.results.rows)} of {outcome.planned} rows, {outcome.measured} new"
        typer.echo(f"{folder / outcome.artefact.name}.md  {rows}")
    typer.echo(f"{folder / 'index.md'}")


def choose_cast(scale: str, models: list[str], weights: list[str]) -> "Cast":
    """Who plays: your weights before those that ship, stand-ins in a smoke test."""
    from inctnp.paper.cast import Cast
    from inctnp.paper.plotting import LABELS
    from inctnp.training.choices import pick

    only = [name.strip() for group in models for name in group.split(",") if name.strip()]
    for name in only:
        pick(LABELS, name, "model")
    folders: dict[str, Path] = {}
    for given in weights:
        name, equals, folder = given.partition("=")
        if not equals or name.count("/") != 1:
            raise ConfigError(f"Weights are given as SETTING/MODEL=FOLDER, such as stations/tnp-d=run, not {given!r}.")
        folders[name] = Path(folder)
    return Cast(folders=folders, stand_ins=scale == "smoke", only=frozenset(only))
