"""Settings changed by name: `optimisation.rate=0.001`, `phases.0.data.batch_size=8`, `model.layers=3`."""

import dataclasses
import json
import types
import typing
from collections.abc import Iterable
from typing import Any, TypeVar

from inctnp.errors import ConfigError, UnknownNameError
from inctnp.training.choices import hint

Settings = TypeVar("Settings")

TRUTHS = {"true": True, "false": False}


def override(settings: Settings, changes: Iterable[str]) -> Settings:
    """The same settings with each `path=value` applied in turn; `*` stands for every entry of a list.

    >>> from inctnp.training.recipes import recipe
    >>> override(recipe("rbf-64", "cnp"), ["phases.*.data.context=1,32"]).phases[0].data.context
    (1, 32)
    """
    for change in changes:
        path, equals, text = change.partition("=")
        if not equals or not path.strip():
            raise ConfigError(f"A change reads path=value, such as optimisation.rate=0.001, not {change!r}.")
        settings = _changed(settings, path.strip().split("."), text.strip(), path.strip())
    return settings


def _changed(owner: Any, path: list[str], text: str, whole: str) -> Any:
    """The owner with what `path` leads to replaced."""
    if isinstance(owner, tuple):
        return _changed_entry(owner, path, text, whole)
    if not dataclasses.is_dataclass(owner):
        raise ConfigError(f"{whole}: {type(owner).__name__} has no settings below it.")
    name, *rest = path
    kinds = typing.get_type_hints(type(owner))
    if name not in kinds:
        raise UnknownNameError(
            f"{whole}: {type(owner).__name__} has no setting {name!r}. {hint(name, kinds)}"
            f"There are: {', '.join(kinds)}."
        )
    old = getattr(owner, name)
    new = _changed(old, rest, text, whole) if rest else parse(kinds[name], text, whole)
    return dataclasses.replace(owner, **{name: new})  # type: ignore[type-var]


def _changed_entry(entries: tuple[Any, ...], path: list[str], text: str, whole: str) -> tuple[Any, ...]:
    index, *rest = path
    if index != "*" and not (index.isdecimal() and int(index) < len(entries)):
        raise ConfigError(f"{whole}: choose an entry from 0 to {len(entries) - 1}, or * for all, not {index!r}.")
    if not rest:
        raise ConfigError(f"{whole}: name a setting of the entry, or set the whole list.")
    return tuple(
        _changed(entry, rest, text, whole) if index in ("*", str(i)) else entry for i, entry in enumerate(entries)
    )


def parse(kind: Any, text: str, where: str) -> Any:
    """Text as a value of the type a setting is declared with.

    >>> parse(tuple[int, int], "1,64", "context"), parse(float | None, "none", "limit"), parse(bool, "true", "prior")
    ((1, 64), None, True)
    """
    arguments = typing.get_args(kind)
    if isinstance(kind, types.UnionType):
        return None if text.lower() == "none" else parse(arguments[0], text, where)
    if typing.get_origin(kind) is tuple:
        return _parse_tuple(arguments, text, where)
    if kind is str:
        return text
    if dataclasses.is_dataclass(kind):
        names = ", ".join(field.name for field in dataclasses.fields(kind))
        raise ConfigError(f"{where} is a group: set one of {names} in it.")
    try:
        return TRUTHS[text.lower()] if kind is bool else kind(text)
    except (ValueError, KeyError) as error:
        raise ConfigError(f"{where} takes {kind.__name__}, not {text!r}.") from error


def _parse_tuple(arguments: tuple[Any, ...], text: str, where: str) -> tuple[Any, ...]:
    """`1,64` or, where lists lie in lists, JSON."""
    try:
        parts = json.loads(text) if text.startswith("[") else [part.strip() for part in text.split(",") if part.strip()]
    except json.JSONDecodeError as error:
        raise ConfigError(f"{where} takes values separated by commas or a JSON list, not {text!r}.") from error
    kinds = [arguments[0]] * len(parts) if Ellipsis in arguments else list(arguments)
    if len(kinds) != len(parts):
        raise ConfigError(f"{where} takes {len(kinds)} values, not {len(parts)}.")
    texts = [part if isinstance(part, str) else json.dumps(part) for part in parts]
    return tuple(parse(kind, part, where) for kind, part in zip(kinds, texts, strict=True))
