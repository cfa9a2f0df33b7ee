"""Shapes and types are checked while tests run, and only then."""

from jaxtyping import install_import_hook

import tests.shape_checks  # noqa: F401  # the hook looks it up by name

install_import_hook("inctnp", "tests.shape_checks.checked")

import torch  # noqa: E402  # after the hook
from hypothesis import settings  # noqa: E402

torch.set_num_threads(1)
settings.register_profile("inctnp", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("inctnp")
