"""The models that ship with the package."""

import difflib
from pathlib import Path

from inctnp.errors import UnknownNameError
from inctnp.models.base import NeuralProcess
from inctnp.pretrained.weights import CONFIG, from_pretrained

HOME = Path(__file__).parent
ALIASES = {"tabular": "tabular/inctnp-seq"}
"""Short names of defaults."""


def names() -> list[str]:
    """Every shipped model, as `<recipe>/<model>`."""
    return sorted(path.parent.relative_to(HOME).as_posix() for path in HOME.glob(f"*/*/{CONFIG}"))


def load(name: str) -> NeuralProcess:
    """A shipped model by name, or one of your own by the folder it was saved in. Needs no network."""
    known = names()
    wanted = ALIASES.get(name, name)
    if wanted in known:
        model = from_pretrained(HOME / wanted)
        model.identity = wanted
        return model
    if Path(name).is_dir():
        model = from_pretrained(name)
        model.identity = str(Path(name).resolve())
        return model
    near = difflib.get_close_matches(name, [*known, *ALIASES], n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise UnknownNameError(f"No model is called {name!r}. {hint}There are: {', '.join(known) or 'none'}.")
