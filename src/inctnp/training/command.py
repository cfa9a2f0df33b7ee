"""The command that trains a recipe again."""

import shlex
from dataclasses import replace
from typing import Any

from inctnp.errors import IncTNPError
from inctnp.training.overrides import override
from inctnp.training.recipe import Recipe
from inctnp.training.recipes import SETTINGS

Paths = dict[str, str]


def command_for(wanted: Recipe) -> str | None:
    """`inctnp train ...`, checked to give a recipe of the same hash; None where no command does.

    >>> from inctnp.training.recipes import recipe
    >>> command_for(recipe("rbf-64", "cnp", budget=0.5))
    'inctnp train rbf-64 --model cnp --set steps=20000'
    """
    if wanted.name not in SETTINGS:
        return None
    began, wanted = wanted.start, replace(wanted, start=None)
    candidates = []
    for variant, base in SETTINGS[wanted.name](wanted.model.name).items():
        changes = _changes(base, wanted)
        if _leads_to(base, changes, wanted):
            candidates.append((len(changes), variant, changes))
    if not candidates:
        return None
    _, variant, changes = min(candidates, key=lambda candidate: candidate[0])
    words = ["inctnp", "train", wanted.name, "--model", wanted.model.name]
    words += ["--variant", variant] * (variant != "fast")
    words += [word for change in changes for word in ("--set", change)]
    return shlex.join([*words, *(("--from", began.name) if began else ())])


def _changes(base: Recipe, wanted: Recipe) -> list[str]:
    before, after = settable(base.as_dict()), settable(wanted.as_dict())
    return [f"{path}={text}" for path, text in after.items() if before.get(path) != text]


def _leads_to(base: Recipe, changes: list[str], wanted: Recipe) -> bool:
    try:
        return replace(override(base, changes)).hash == wanted.hash
    except IncTNPError:
        return False


def settable(plain: Any, path: str = "") -> Paths:
    """Paths and values as they are written after `--set`.

    >>> settable({"a": {"b": [1, 2]}, "c": [{"d": None}]})
    {'a.b': '1,2', 'c.0.d': 'none'}
    """
    if isinstance(plain, list) and not any(isinstance(item, dict) for item in plain):
        nested = any(isinstance(item, list) for item in plain)
        return {path: str(plain) if nested else ",".join(map(str, plain))}
    if isinstance(plain, (dict, list)):
        pairs = plain.items() if isinstance(plain, dict) else enumerate(plain)
        parts = (settable(value, f"{path}.{key}" if path else str(key)) for key, value in pairs)
        return {name: text for part in parts for name, text in part.items()}
    return {path: "none" if plain is None else str(plain)}
