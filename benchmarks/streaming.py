"""What a row and a question cost: `python -m benchmarks.streaming`, the same as `inctnp bench streaming`."""

import typer

from inctnp.bench.commands import command_for

if __name__ == "__main__":
    typer.run(command_for("streaming"))
