"""A run on the screen: one live line where a terminal looks, a line per report where a file does."""

from abc import ABC, abstractmethod
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from inctnp.training.progress import Report


class Display(ABC):
    """Shows what a run tells, while it is open."""

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def open(self) -> None:
        """Before the first step."""

    @abstractmethod
    def close(self) -> None:
        """After the last."""

    @abstractmethod
    def tick(self, report: Report) -> None:
        """After every step."""

    @abstractmethod
    def tell(self, report: Report) -> None:
        """After every validation."""


def choose_display(console: Console, steps: int) -> Display:
    """The live line for a terminal, plain lines for anything else."""
    return LiveDisplay(console, steps) if console.is_terminal else PlainDisplay(console, steps)


class PlainDisplay(Display):
    """A line per validation."""

    def __init__(self, console: Console, steps: int) -> None:
        self.console, self.steps = console, steps

    def open(self) -> None:
        pass

    def close(self) -> None:
        pass

    def tick(self, report: Report) -> None:
        pass

    def tell(self, report: Report) -> None:
        self.console.print(line(report, self.steps), highlight=False, soft_wrap=True)


class LiveDisplay(Display):
    """One line that keeps moving, and a line above it per validation."""

    def __init__(self, console: Console, steps: int) -> None:
        columns = (MofNCompleteColumn(), BarColumn(bar_width=20), TextColumn("{task.fields[told]}"))
        # Twice a second: the display must not take the processor from the training.
        self.progress = Progress(*columns, console=console, refresh_per_second=2)
        self.bar = self.progress.add_task("steps", total=steps, told="")
        self.steps, self.held_out, self.speed = steps, "", 0.0

    def open(self) -> None:
        self.progress.start()

    def close(self) -> None:
        self.progress.stop()

    def tick(self, report: Report) -> None:
        self.speed = report.steps_per_second or self.speed
        left = duration((self.steps - report.step) / max(self.speed, 1e-9))
        told = f"loss {report.loss:.3f}  lr {report.rate:.2e}  {self.speed:.2f} steps/s{self.held_out}  {left} left"
        self.progress.update(self.bar, completed=report.step, told=told)

    def tell(self, report: Report) -> None:
        self.held_out = f"  {scores(report)}" if report.log_likelihood is not None else self.held_out
        self.progress.console.print(line(report, self.steps), highlight=False, soft_wrap=True)


def line(report: Report, steps: int) -> str:
    """One report in words.

    >>> line(Report(1000, 0.25, 1e-3, 4.0, 250.0, log_likelihood=0.1, gap=0.3), 4000)
    '   1000/4000  loss 0.2500  held-out 0.1000  gap 0.3000  lr 1.00e-03  4.00 steps/s  0.07 h  12m left'
    """
    left = duration((steps - report.step) / max(report.steps_per_second, 1e-9))
    parts = [f"{report.step:>7}/{steps}", f"loss {report.loss:.4f}", scores(report)]
    parts += [f"{name} {value:.4g}" for name, value in report.measured.items()]
    parts += [f"lr {report.rate:.2e}", f"{report.steps_per_second:.2f} steps/s", f"{report.seconds / 3600:.2f} h"]
    parts += [f"skipped {report.skipped}"] * bool(report.skipped) + [f"{left} left"]
    return "  ".join(part for part in parts if part)


def scores(report: Report) -> str:
    """Held-out values that are known."""
    named = (("held-out", report.log_likelihood), ("gap", report.gap), ("joint gap", report.joint_gap))
    return "  ".join(f"{name} {value:.4f}" for name, value in named if value is not None)


def duration(seconds: float) -> str:
    """Hours and minutes.

    >>> duration(45), duration(750), duration(9000)
    ('45s', '12m', '2h30m')
    """
    if seconds < 60:
        return f"{seconds:.0f}s"
    hours, minutes = divmod(int(seconds) // 60, 60)
    return f"{hours}h{minutes:02d}m" if hours else f"{minutes}m"
