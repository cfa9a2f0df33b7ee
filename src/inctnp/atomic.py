"""Files appear whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, push it to the disk, then put it in place.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_atomically(target, lambda p: p.write_text("kept"))
    >>> target.read_text(), [p.name for p in target.parent.iterdir()]
    ('kept', ['note.txt'])
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def cache_dir() -> Path:
    """Where runs and downloads live: `$INCTNP_CACHE`, else the user's cache directory."""
    chosen = os.environ.get("INCTNP_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "inctnp"


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
