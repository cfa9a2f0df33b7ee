"""What a saved state has seen, how well it did, and how it is set."""

import dataclasses
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from inctnp.console.opening import open_state

Description = dict[str, dict[str, Any]]
"""Facts under headings."""


def describe(path: Path) -> Description:
    """Everything worth knowing of a state."""
    forecast, memo = open_state(path)
    with closing(forecast):
        told = forecast.describe()
    stream = {"records": memo.rows, "last source": memo.source or "a pipe", "bytes of the file": path.stat().st_size}
    return {**told, "stream": stream, "choices": memo.choices, "settings": dataclasses.asdict(forecast.settings)}


def print_description(description: Description, as_json: bool) -> None:
    """A list under headings, or JSON."""
    if as_json:
        sys.stdout.write(json.dumps(description, indent=2) + "\n")
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for heading, facts in description.items():
        table.add_row(f"[bold]{heading}[/bold]", "")
        for name, value in facts.items():
            if value not in (None, [], (), {}):
                table.add_row(f"  {name}", _told(value))
    Console(soft_wrap=True).print(table)


def _told(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_told, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
