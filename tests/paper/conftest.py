from collections.abc import Iterator
from pathlib import Path

import pytest

from inctnp.paper.cast import Cast


@pytest.fixture(scope="session")
def stand_ins() -> Cast:
    return Cast(stand_ins=True)


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Training runs of the tests stay among the tests."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INCTNP_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all artefacts, as `inctnp paper all` has: those of one study share their rows."""
    return tmp_path_factory.mktemp("results")
