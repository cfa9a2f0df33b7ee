"""What a command has to remember beside its regressor, so that the next call goes on where this one stopped."""

import json
import shutil
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from inctnp.atomic import write_atomically
from inctnp.console.forecast import Forecast, Waiting
from inctnp.errors import StateError, StorageError
from inctnp.rows import Example

NAME = "inctnp-console"
"""Under which it lies in the file of the state: one file, so the two cannot disagree."""
VERSION = 1
WRITTEN = ("choices", "columns", "rows", "source", "place", "mark", "waiting")


@dataclass(kw_only=True)
class Memo:
    """Lies inside the file of the state."""

    choices: dict[str, Any] = field(default_factory=dict)
    """Options that cannot change along a stream: target, key, lags and so on."""
    columns: list[str] = field(default_factory=list)
    """Of the first row; later ones may have others."""
    rows: int = 0
    """Records so far, over all calls."""
    source: str | None = None
    """The file that was read last; None for a pipe."""
    place: int = 0
    """Rows of it that were taken."""
    mark: int = 0
    """A checksum of the last of them."""
    waiting: Waiting = field(default_factory=list)
    last: Example | None = None
    """The row taken last in this call; not written."""

    def taken(self, example: Example) -> None:
        """One row more."""
        self.columns = self.columns or list(example.row)
        self.rows += 1
        self.place += 1
        self.last = example

    def write(self, path: Path, forecast: Forecast) -> None:
        """The state and this in one file, which appears whole or not at all."""
        if self.last is not None:
            self.mark = mark_of(self.last)
        self.waiting = forecast.waiting
        note = json.dumps({"version": VERSION, **{name: getattr(self, name) for name in WRITTEN}})

        def fill(part: Path) -> None:
            bare = part.with_name(f"{part.name}.bare")
            try:
                forecast.save(bare)
                _copy_with(note, bare, part)
            finally:
                bare.unlink(missing_ok=True)

        try:
            write_atomically(path, fill)
        except (OSError, SafetensorError) as error:
            raise StorageError(
                f"The state cannot be saved as {path}: {error}. Make room, or choose another place."
            ) from error


def _copy_with(note: str, bare: Path, part: Path) -> None:
    """Add the note to the header of a safetensors file: its length in eight bytes, JSON, tensors."""
    with bare.open("rb") as source, part.open("wb") as target:
        header = json.loads(source.read(int.from_bytes(source.read(8), "little")))
        header["__metadata__"][NAME] = note
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        target.write(len(text).to_bytes(8, "little") + text)
        shutil.copyfileobj(source, target)


def read_memo(path: Path) -> Memo | None:
    """What was remembered, or None for a state that no command wrote."""
    try:
        with safe_open(path, framework="pt") as file:
            note = (file.metadata() or {}).get(NAME)
    except (SafetensorError, OSError) as error:
        raise StateError(f"{path} is damaged or no saved state: {error}. Go back to an earlier copy.") from error
    if note is None:
        return None
    try:
        found = json.loads(note)
        newer = found.pop("version") > VERSION
        memo = Memo() if newer else Memo(**found)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StateError(f"{path} is damaged: {error}. Go back to an earlier copy.") from error
    if newer:
        raise StateError(f"{path} was written by a newer release of inctnp. Upgrade to go on from it.")
    return memo


def mark_of(example: Example) -> int:
    """A checksum of a row and its outcome."""
    return zlib.crc32(repr((sorted(example.row.items()), example.y, example.key)).encode())
