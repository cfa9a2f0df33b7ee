"""Measurements in a file, one JSON object a line, so that what was measured is not measured again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inctnp.atomic import write_atomically
from inctnp.errors import StateError

Row = Mapping[str, Any]
KEY = ("stream", "contestant", "limit", "seed")
"""A later row of the same key stands for the earlier one."""


@dataclass(frozen=True)
class Ledger:
    """Rows by stream, contestant, number of rows and seed."""

    path: Path

    def read(self) -> dict[tuple[Any, ...], Row]:
        if not self.path.is_file():
            return {}
        rows = {}
        for number, line in enumerate(self.path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                row = json.loads(line)
                rows[tuple(row[name] for name in KEY)] = row
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                raise StateError(f"Line {number} of {self.path} is no measurement ({error!r}): remove it.") from error
        return rows

    def add(self, row: Row) -> None:
        """Keep a measurement, in place of an earlier one of the same key."""
        rows = {**self.read(), tuple(row[name] for name in KEY): row}
        text = "".join(f"{json.dumps(dict(each), ensure_ascii=False)}\n" for each in rows.values())
        write_atomically(self.path, lambda part: part.write_text(text, encoding="utf-8"))
