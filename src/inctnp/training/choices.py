"""A name a user typed, looked up, with the nearest one in the message when there is none."""

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from inctnp.errors import UnknownNameError

Value = TypeVar("Value")


def pick(table: Mapping[str, Value], name: str, kind: str) -> Value:
    """The entry of this name.

    >>> pick({"cosine": 1, "constant": 2}, "cosine", "schedule")
    1
    """
    if name in table:
        return table[name]
    raise UnknownNameError(f"No {kind} is called {name!r}. {hint(name, table)}There are: {', '.join(table)}.")


def hint(name: str, known: Iterable[str]) -> str:
    """What was probably meant, as a sentence; empty where nothing is near.

    >>> hint("cosin", ["cosine", "constant"])
    "Did you mean 'cosine'? "
    """
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"Did you mean {near[0]!r}? " if near else ""
