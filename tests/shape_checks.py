"""The type checker that jaxtyping applies to every function of the package while tests run."""

from collections.abc import Callable
from typing import Any

from beartype import BeartypeConf, beartype
from beartype.roar import BeartypeDecorHintPep673Exception

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
"""As type checkers do, take a whole number where a float is asked for."""


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Check calls of this function; one that answers `Self` cannot be checked outside its class and stays as it is."""
    try:
        return check(function)
    except BeartypeDecorHintPep673Exception:
        return function
