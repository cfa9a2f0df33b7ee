"""Settings as plain values for JSON, and back: what a run keeps of its recipe, and what its hash is made of."""

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from torch import Tensor

from inctnp.errors import StateError
from inctnp.generators.base import TaskGenerator
from inctnp.generators.gp import GPTasks
from inctnp.generators.stations import StationTasks
from inctnp.generators.tabular_prior import TabularPrior
from inctnp.pretrained.weights import tensors_hash

SOURCES: dict[str, type[TaskGenerator]] = {source.__name__: source for source in (GPTasks, TabularPrior, StationTasks)}
"""Sources of tasks that can be made again from what a run wrote down."""

_RUN = ("name", "model", "phases", "validation", "steps")
_BLOCK = ("width", "heads", "feedforward")
_MODEL = ("name", "dim_x", "dim_y", "layers", "components", "std_min", "latents", "hidden_layers", "prior", "grids")
_GP = ("batch_size", "seed", "families", "lengthscales", "context", "targets", "noise", "shared_kernel")
ALWAYS_HASHED: dict[str, tuple[str, ...]] = {
    "Recipe": (*_RUN, "optimisation", "precision", "seed", "validation_batches"),
    "Optimisation": ("rate", "muon_rate", "weight_decay", "clip", "schedule", "warmup", "floor"),
    "Phase": ("share", "data"),
    "ModelConfig": (*_BLOCK, *_MODEL),
    "GPTasks": _GP,
}
"""Fields that the first runs hashed whatever their value; any other counts only where it is not at its default, so
that a new setting does not lose sight of the runs from before it."""

Made = TypeVar("Made")
Fields = Callable[[Any], Iterable[dataclasses.Field[Any]]]


def every_field(value: Any) -> Iterable[dataclasses.Field[Any]]:
    """All settings, for people and for making the value again."""
    return dataclasses.fields(value)


def telling_fields(value: Any) -> Iterator[dataclasses.Field[Any]]:
    """The settings a hash is made of."""
    always = ALWAYS_HASHED.get(type(value).__name__, ())
    for field in dataclasses.fields(value):
        if field.name in always or getattr(value, field.name) != _default(field):
            yield field


def to_plain(value: Any, fields: Fields = every_field) -> Any:
    """Numbers, texts, lists and dictionaries; tensors are named by their content, sources carry their class."""
    if dataclasses.is_dataclass(value):
        plain = {field.name: to_plain(getattr(value, field.name), fields) for field in fields(value)}
        return {**plain, "source": type(value).__name__} if isinstance(value, TaskGenerator) else plain
    if isinstance(value, (tuple, list)):
        return [to_plain(each, fields) for each in value]
    if isinstance(value, Tensor):
        return {"shape": list(value.shape), "sha256": tensors_hash({"": value})}
    return value


def from_plain(kind: type[Made], plain: dict[str, Any]) -> Made:
    """Settings from what was written of them.

    >>> from_plain(GPTasks, to_plain(GPTasks(targets=3))).targets
    3
    """
    hints = typing.get_type_hints(kind)
    given = {name: value for name, value in plain.items() if name != "source"}
    if unknown := set(given) - set(hints):
        raise StateError(f"{kind.__name__} has no setting {', '.join(sorted(unknown))}: a newer version wrote it.")
    return kind(**{name: _revive(hints[name], value) for name, value in given.items()})


def flatten(plain: Any, path: str = "") -> dict[str, Any]:
    """Dotted paths to single values.

    >>> flatten({"a": {"b": [1, 2]}})
    {'a.b.0': 1, 'a.b.1': 2}
    """
    if isinstance(plain, (dict, list)) and plain:
        pairs = plain.items() if isinstance(plain, dict) else enumerate(plain)
        parts = (flatten(value, f"{path}.{key}" if path else str(key)) for key, value in pairs)
        return {name: value for part in parts for name, value in part.items()}
    return {path: plain}


def _revive(hint: Any, value: Any) -> Any:
    arguments = typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        return None if value is None else _revive(arguments[0], value)
    if typing.get_origin(hint) is tuple:
        each = [arguments[0]] * len(value) if Ellipsis in arguments else arguments
        return tuple(_revive(part, item) for part, item in zip(each, value, strict=True))
    if hint is TaskGenerator:
        if value["source"] not in SOURCES:
            raise StateError(f"A {value['source']} cannot be made again from a file: it held data of the user's.")
        return from_plain(SOURCES[value["source"]], value)
    if dataclasses.is_dataclass(hint):
        return from_plain(typing.cast(type[Any], hint), value)
    return value


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
