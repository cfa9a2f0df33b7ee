"""`python -m inctnp` is the command line."""

from inctnp.cli import app

app()
