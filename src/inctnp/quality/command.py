"""`inctnp quality`: parse, measure what is missing, write the page."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from inctnp.errors import UnknownNameError


def quality(  # one parameter per option
    scale: Annotated[str, typer.Option(help="smoke (seconds) or cpu (half an hour of one core).")] = "cpu",
    streams: Annotated[str, typer.Option(help="Only these, with commas between.")] = "",
    contestants: Annotated[str, typer.Option(help="Only these, with commas between.")] = "",
    model: Annotated[str, typer.Option(help="A shipped model, or the folder of one of yours.")] = "tabular",
    out: Annotated[Path, typer.Option(help="Folder of the page and of the measurements behind it.")] = Path("docs"),
    draw_only: Annotated[bool, typer.Option("--draw-only", help="Write the page of what was measured.")] = False,
) -> None:
    """Compare predictions on streams of real data with those of River, scikit-learn and WISKI.

    What is measured already is not measured again, unless settings or weights have changed since.
    """
    import torch

    from inctnp.atomic import write_atomically
    from inctnp.quality.comparison import SCALES, collect, compare
    from inctnp.quality.ledger import Ledger
    from inctnp.quality.page import page

    if scale not in SCALES:
        raise UnknownNameError(f"No scale is called {scale!r}: choose from {', '.join(SCALES)}.")
    # One row is too little work to share, and times are those of one core.
    torch.set_num_threads(1)
    whole = replace(SCALES[scale], model=model)
    asked = replace(
        whole,
        streams=_listed(streams) or whole.streams,
        contestants=_listed(contestants) or whole.contestants,
    )
    ledger = Ledger(out / "quality.jsonl")
    if not draw_only:
        compare(asked, ledger, typer.echo)
    text = page(whole, collect(whole, ledger))
    write_atomically(out / "quality.md", lambda part: part.write_text(text, encoding="utf-8"))
    typer.echo(f"{out / 'quality.md'}")


def _listed(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",") if name.strip())
