"""What a person sees while artefacts are measured."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from inctnp.paper.artefact import Artefact
from inctnp.paper.cells import Cell
from inctnp.paper.run import Tick


@contextmanager
def watched() -> Iterator[Callable[[Artefact], Tick]]:
    """One bar for each artefact on a terminal; one line for each where output goes to a file."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal) as progress:

        def watch(artefact: Artefact) -> Tick:
            bar = progress.add_task(artefact.name, total=None)
            if not console.is_terminal:
                console.print(f"{artefact.name}: {artefact.title}", highlight=False, soft_wrap=True)

            def tick(number: int, total: int, cell: Cell) -> None:
                where = " ".join(str(value) for value in cell.labels.values())
                progress.update(bar, total=total, completed=number, description=f"{artefact.name}  {where}")

            return tick

        yield watch
