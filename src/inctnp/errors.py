"""Every error the library raises on purpose.

One tree, so that a caller can catch `IncTNPError`; each leaf is also the built-in a stranger would catch.
A message says what was expected, what arrived and what to do.
"""


class IncTNPError(Exception):
    """Base of everything raised on purpose."""


class ConfigError(IncTNPError, ValueError):
    """Settings that contradict each other or do not exist."""


class ShapeError(IncTNPError, ValueError):
    """A tensor whose axes do not fit the model or each other."""


class DtypeError(IncTNPError, TypeError):
    """A tensor of the wrong number type or on the wrong device."""


class DataError(IncTNPError, ValueError):
    """Values that cannot be learned from: NaN, infinity, or a table that does not hold what was asked for."""


class MissingDataError(IncTNPError, FileNotFoundError):
    """A data file that is not where it was looked for."""


class EmptyContextError(IncTNPError, ValueError):
    """A prediction from no data by a model that has no learned prior."""


class RollbackError(IncTNPError, ValueError):
    """A rollback to rows that were never seen or are no longer held."""


class StateError(IncTNPError, ValueError):
    """A saved file that is damaged, too new, or belongs to something else."""


class UnknownNameError(IncTNPError, KeyError):
    """A name that is not in a registry."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class StorageError(IncTNPError, OSError):
    """A folder that cannot be written to, or a disk that is full."""
