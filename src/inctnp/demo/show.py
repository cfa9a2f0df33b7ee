"""The demonstrations on the screen."""

from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from inctnp.demo import functions, streams
from inctnp.quality.prequential import UNSCORED, Measured

UNITS = (
    f"Outcomes in units of their standard deviation, the first {UNSCORED} rows of each stream not scored. "
    "Log score: higher is better; CRPS and RMSE: lower is."
)


def show_streams(model: str, report: Path) -> None:
    """Every stream by us and by River's best, and the page of one of them."""
    console = Console()
    table = Table(
        title="Every row predicted before it is learned", caption=UNITS, box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for column in ("stream", "rows", "predicted by"):
        table.add_column(column, no_wrap=True)
    for column in ("log score", "CRPS", "RMSE", "inside 90 %", "ms a row"):
        table.add_column(column, justify="right")
    for name in streams.STREAMS:
        with console.status("") as status:
            shown = streams.demonstrate(name, model, status.update, streams.LIMIT)
        if name == streams.REPORTED:
            streams.report(shown, model, report)
        table.add_row(name, f"{shown.ours.rows:,}", "inctnp", *_scores(shown.ours, shown.theirs))
        table.add_row("", "", shown.rival, *_scores(shown.theirs, shown.ours), end_section=True)
    console.print(table)
    console.print(f"Report: {report}", soft_wrap=True, highlight=False)


def show_functions(picture: Path) -> None:
    """Functions the model has never seen, each prediction beside the exact posterior's."""
    shown = functions.demonstrate()
    table = Table(title=f"{functions.STREAMS} streams, every row predicted before it is learned")
    for column in ("rows", "log score", "best possible", "inside 90 % interval"):
        table.add_column(column, justify="right")
    for stage in shown.stages:
        scores = f"{stage.log_score:+.3f}", f"{stage.best_log_score:+.3f}", f"{stage.coverage:.1%}"
        table.add_row(f"{stage.first + 1}-{stage.last + 1}", *scores)
    console = Console()
    console.print(table)
    console.print(f"One stream alone: {shown.seconds_per_row * 1e3:.2f} ms to predict and learn a row.")
    functions.draw(picture)
    console.print(f"Picture: {picture}")


def _scores(one: Measured, other: Measured) -> list[str]:
    """The figures of one, the better ones of the two in bold."""
    pairs = (
        (f"{one.log_score:+.3f}", one.log_score > other.log_score),
        (f"{one.crps:.3f}", one.crps < other.crps),
        (f"{one.rmse:.3f}", one.rmse < other.rmse),
        (f"{one.coverage:.1%}", abs(one.coverage - 0.9) < abs(other.coverage - 0.9)),
        (f"{one.microseconds / 1e3:.2f}", one.microseconds < other.microseconds),
    )
    return [f"[bold]{text}[/bold]" if better else text for text, better in pairs]
