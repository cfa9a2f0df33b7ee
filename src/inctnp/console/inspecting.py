"""What a saved state has seen, how well it did, and how it is set."""

import dataclasses
import json
import math
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from inctnp.console.opening import open_state

Description = dict[str, dict[str, Any]]
"""Facts under headings."""


def describe(path: Path) -> Description:
    """Everything worth knowing of a state."""
    regressor, memo = open_state(path)
    scores = {
        name: value
        for name, value in dataclasses.asdict(regressor.monitor.scores).items()
        if name != "pit" and not (isinstance(value, float) and math.isnan(value))
    }
    rows = {
        "learned": len(regressor),
        "held": regressor.held,
        "bytes in memory": regressor.nbytes,
        "bytes of the file": path.stat().st_size,
        "alarms": len(regressor.monitor.alarms),
    }
    settings = dataclasses.asdict(regressor.settings)
    choices = {name: value for name, value in memo.choices.items() if name not in settings}
    stream = {**choices, "records": memo.rows, "last source": memo.source or "a pipe"} if memo.rows else {}
    return {
        "rows": rows,
        "scores": scores,
        "columns": dict(regressor.columns.kinds),
        "stream": stream,
        "settings": settings,
    }


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
