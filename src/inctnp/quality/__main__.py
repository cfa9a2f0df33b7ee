"""Lets `python -m inctnp.quality` do what `inctnp quality` does."""

import typer

from inctnp.quality.command import quality

typer.run(quality)
