"""What a piece of text means: a number, a moment, a word, or nothing at all."""

import datetime as dt
import math
from collections.abc import Callable
from functools import lru_cache

Value = float | str | dt.datetime | None
"""What a row holds; booleans are numbers."""

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "nil", "?", "-", "--", "#n/a", "<na>", "nat", "missing"})
"""Words for a value that is not there, in lower case."""
BOOLEANS = {"true": 1.0, "false": 0.0}
LATEST_SECONDS = 1e11
"""Numbers of moments beyond this are milliseconds since 1970: as seconds they would be in the year 5138."""

Convert = Callable[[str], Value]


def value_of(text: str) -> Value:
    """The value that a text stands for.

    >>> [value_of(text) for text in ("3.5", " 12 ", "true", "NA", "", "blue", "1_000")]
    [3.5, 12.0, 1.0, None, None, 'blue', '1_000']
    >>> value_of("2024-03-01T12:30")
    datetime.datetime(2024, 3, 1, 12, 30)
    """
    try:
        number = float(text)
    except ValueError:
        return _word(text)
    if math.isnan(number):
        return None
    # Python reads 1_000 as a number, which no table means.
    return number if "_" not in text else text


def value_with_comma(text: str) -> Value:
    """The same where the comma is the decimal sign.

    >>> value_with_comma("3,5"), value_with_comma("a,b")
    (3.5, 'a,b')
    """
    value = value_of(text.replace(",", ".", 1)) if text.count(",") == 1 else value_of(text)
    return text.strip() if isinstance(value, str) else value


def text_of(text: str) -> Value:
    """The text as it stands, for columns of names: "007" is not seven.

    >>> text_of(" 007 "), text_of("")
    ('007', None)
    """
    stripped = text.strip()
    return stripped if stripped.lower() not in MISSING else None


def moment_reader(pattern: str | None) -> Convert:
    """What reads the moments of a column: by a pattern as of `strptime`, else ISO 8601 or a count since 1970.

    >>> moment_reader(None)("1700000000"), moment_reader(None)("1700000000000")
    (datetime.datetime(2023, 11, 14, 22, 13, 20), datetime.datetime(2023, 11, 14, 22, 13, 20))
    >>> moment_reader("%d.%m.%Y")("01.02.2024")
    datetime.datetime(2024, 2, 1, 0, 0)
    """

    def by_pattern(text: str) -> Value:
        stripped = text.strip()
        if stripped.lower() in MISSING:
            return None
        return dt.datetime.strptime(stripped, pattern or "")  # a zone, if any, is in the pattern

    return by_pattern if pattern else lambda text: moment_of(value_of(text))


def moment_of(value: Value) -> Value:
    """A number as seconds or milliseconds since 1970; anything else as it is."""
    if not isinstance(value, float):
        return value
    seconds = value / 1000 if abs(value) > LATEST_SECONDS else value
    return dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)  # moments without a zone are UTC


# Words repeat; most columns of text have few of them.
@lru_cache(maxsize=8192)
def _word(text: str) -> Value:
    stripped = text.strip()
    word = stripped.lower()
    if word in MISSING:
        return None
    if word in BOOLEANS:
        return BOOLEANS[word]
    if word[:4].isdigit() and word[4:5] == "-":
        try:
            return dt.datetime.fromisoformat(stripped)
        except ValueError:
            return stripped
    return stripped
