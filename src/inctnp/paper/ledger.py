"""Rows of results in a file, one JSON object a line: appended whole, read back as they were."""

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inctnp.atomic import write_atomically
from inctnp.errors import StateError

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Ledger:
    """One file of rows."""

    path: Path

    def read(self) -> dict[str, Row]:
        """Rows by key; a last line that an interruption cut short does not count."""
        rows: dict[str, Row] = {}
        lines = self._complete().splitlines()
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                rows[row["key"]] = row
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                raise StateError(
                    f"Line {number} of {self.path} is not a row of results ({error!r}): remove it, and the command "
                    "computes what it held again."
                ) from error
        return rows

    def append(self, row: Row) -> None:
        """Add a row and see it to the disk."""
        text = _line(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._torn():
            write_atomically(self.path, lambda part: part.write_text(self._complete(), encoding="utf-8"))
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def keep(self, keys: Collection[str]) -> int:
        """Drop all rows but these, which other weights or settings have left behind; answers how many went."""
        rows = self.read()
        kept = {key: row for key, row in rows.items() if key in keys}
        if len(kept) < len(rows):
            text = "".join(_line(row) for row in kept.values())
            write_atomically(self.path, lambda part: part.write_text(text, encoding="utf-8"))
        return len(rows) - len(kept)

    def _complete(self) -> str:
        text = self.path.read_text(encoding="utf-8", errors="replace") if self.path.is_file() else ""
        return text[: text.rfind("\n") + 1]

    def _torn(self) -> bool:
        if not self.path.is_file() or self.path.stat().st_size == 0:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read() != b"\n"


def _line(row: Row) -> str:
    return json.dumps(dict(row), allow_nan=False, ensure_ascii=False) + "\n"
