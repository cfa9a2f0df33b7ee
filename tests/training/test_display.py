"""What the screen shows."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from inctnp.training.display import LiveDisplay, PlainDisplay, choose_display
from inctnp.training.progress import Report

REPORT = Report(500, 0.25, 1e-3, 4.0, 125.0, log_likelihood=0.1, gap=0.3, joint_gap=0.2, measured={"gnsr": 1.5})


def shown(terminal: bool) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=200)
    with choose_display(console, 1000) as display:
        display.tick(replace(REPORT, step=499, log_likelihood=None))
        display.tell(REPORT)
        display.tick(replace(REPORT, step=501, loss=0.5))
    return console.file.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_everything_worth_knowing_is_shown(terminal: bool) -> None:
    text = shown(terminal)
    for part in ("loss 0.2500", "held-out 0.1000", "gap 0.3000", "joint gap 0.2000", "gnsr 1.5", "4.00 steps/s", "2m"):
        assert part in text


def test_only_a_terminal_gets_a_live_line() -> None:
    assert "501/1000" in shown(terminal=True)
    assert shown(terminal=False).count("\n") == 1
    assert isinstance(choose_display(Console(force_terminal=True), 1), LiveDisplay)
    assert isinstance(choose_display(Console(file=io.StringIO()), 1), PlainDisplay)
