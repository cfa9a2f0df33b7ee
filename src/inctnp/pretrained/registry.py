"""The models that ship with the package."""

import difflib
from pathlib import Path
from typing import Any

from inctnp.errors import UnknownNameError
from inctnp.models.base import NeuralProcess
from inctnp.pretrained.weights import CONFIG, from_pretrained, read_config

HOME = Path(__file__).parent
ALIASES = {"tabular": "tabular/inctnp-seq"}
"""Short names of defaults."""


def names() -> list[str]:
    """Every shipped model, as `<recipe>/<model>`."""
    return sorted(path.parent.relative_to(HOME).as_posix() for path in HOME.glob(f"*/*/{CONFIG}"))


def load(name: str) -> NeuralProcess:
    """A shipped model by name, or one of your own by the folder it was saved in. Needs no network."""
    folder, identity = find(name)
    model = from_pretrained(folder)
    model.identity = identity
    return model


def described(name: str) -> dict[str, Any]:
    """What is told of a model: recipe, steps, hours, results."""
    return dict(read_config(find(name)[0]).get("about", {}))


def find(name: str) -> tuple[Path, str]:
    """The folder a model is in, and what identifies it in what is saved with it."""
    known = names()
    wanted = ALIASES.get(name, name)
    if wanted in known:
        return HOME / wanted, wanted
    if Path(name).is_dir():
        return Path(name), str(Path(name).resolve())
    near = difflib.get_close_matches(name, [*known, *ALIASES], n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise UnknownNameError(f"No model is called {name!r}. {hint}There are: {', '.join(known) or 'none'}.")
