"""What a reader has to be told when it cannot find out by itself."""

import codecs
from dataclasses import dataclass

from inctnp.errors import ConfigError

FORMATS = ("csv", "jsonl", "parquet")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to understand a file; the defaults look at its first bytes."""

    format: str | None = None
    """csv (with any delimiter), jsonl or parquet; None looks."""
    delimiter: str | None = None
    """Between the values of a line; None looks at the header."""
    decimal: str = "."
    """The decimal sign of numbers: a point or a comma."""
    encoding: str = "utf-8"
    drop: frozenset[str] = frozenset()
    """Columns that are not read."""
    as_text: frozenset[str] = frozenset()
    """Columns of names, whatever they look like."""
    time: str | None = None
    """The column of moments: numbers in it count from 1970."""
    time_format: str | None = None
    """How its moments are written, as for `strptime`, unless they are ISO 8601."""

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise ConfigError(f"No format is called {self.format!r}: choose {', '.join(FORMATS)}, or leave it out.")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ConfigError(f"A delimiter is one character, such as ',' or ';', not {self.delimiter!r}.")
        if self.decimal not in (".", ","):
            raise ConfigError(f"The decimal sign is '.' or ',', not {self.decimal!r}.")
        if self.decimal == "," == self.delimiter:
            raise ConfigError("The comma cannot be the delimiter and the decimal sign at once.")
        if self.time_format is not None and self.time is None:
            raise ConfigError("A format of moments needs to know their column: give the time column too.")
        _check_encoding(self.encoding)


def _check_encoding(name: str) -> None:
    """Lines are cut where the byte 10 stands, so it has to be the line feed and nothing else."""
    try:
        as_usual = codecs.lookup(name).encode("a,\n")[0] == b"a,\n"
    except (LookupError, TypeError) as error:
        raise ConfigError(
            f"No text encoding is called {name!r}: utf-8, latin-1 and cp1252 are the usual ones."
        ) from error
    if not as_usual:
        raise ConfigError(
            f"Text in {name} cannot be cut into lines: convert it first, as with `iconv -f {name} -t utf-8`."
        )
