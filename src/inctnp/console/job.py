"""Everything one call of `inctnp stream` is asked to do."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inctnp.errors import ConfigError, StorageError
from inctnp.rows import Reading, Roles, Skipped, stop
from inctnp.rows.refusals import Refuse

Say = Callable[[str], object]
"""Takes a message for a person."""


def check_level(level: float) -> None:
    """Refuse what is no share."""
    if not 0 < level < 1:
        raise ConfigError(f"The level of an interval lies between 0 and 1, not {level:g}: 0.9 is usual.")


def check_place(path: Path) -> None:
    """Refuse now what could not be written when all rows are through."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # By trying: permissions do not tell of file systems that only read.
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}. Choose another place for it.") from error
    if path.is_dir():
        raise StorageError(f"{path} is a folder: the name of a file was expected.")


def refusal(name: str, say: Say) -> Refuse:
    """What happens to broken rows, by its name on the command line."""
    known: dict[str, Refuse] = {"stop": stop, "skip": Skipped(say)}
    if name not in known:
        raise ConfigError(f"A broken row can {' or '.join(known)}, not {name!r}.")
    return known[name]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One call of `inctnp stream`."""

    source: str
    """A file, or - for the standard input."""
    reading: Reading
    roles: Roles
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the regressor."""
    level: float = 0.9
    """Of the intervals."""
    delay: int = 0
    """Rows after which an outcome is known."""
    out: Path | None = None
    state: Path | None = None
    report: Path | None = None
    on_error: str = "stop"
    save_every: float = 60.0
    """Seconds between two saves of the state."""

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.delay < 0:
            raise ConfigError(f"Outcomes cannot come {-self.delay} rows early: the delay must be 0 or more.")
        written = [path.resolve() for path in (self.out, self.state, self.report) if path is not None]
        if len({*written, Path(self.source).resolve()}) <= len(written):
            raise ConfigError("Input, --out, --state and --report must be different files.")

    @property
    def choices(self) -> dict[str, Any]:
        """What cannot change along a stream."""
        regressor = {name: list(value) if isinstance(value, tuple) else value for name, value in self.settings.items()}
        reading = {"drop": sorted(self.reading.drop), "category": sorted(self.reading.as_text)}
        times = {"time": self.reading.time, "time_format": self.reading.time_format}
        return {
            "target": self.roles.target,
            "key": self.roles.key,
            "delay": self.delay,
            **reading,
            **times,
            **regressor,
        }
