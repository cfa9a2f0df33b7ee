"""A tiny model in a folder, as a user's own would be, and rows of every kind."""

import getpass
import tempfile
from pathlib import Path

import pandas as pd
import pytest

from inctnp.pretrained.weights import save_pretrained
from inctnp.testing.toy import toy_model
from tests.regressor.conftest import make_stream

FOLDER = str(Path(tempfile.gettempdir()) / f"inctnp-toy-of-{getpass.getuser()}")
"""In float32, as the models that ship: conformance must not hang on more digits.

The same folder for every worker, since scikit-learn names its tests after it; files in it are replaced as a whole.
"""
save_pretrained(toy_model("inctnp-seq", dim_x=12, layers=1, prior=True, components=2).float(), FOLDER)


@pytest.fixture(scope="session")
def table() -> tuple[pd.DataFrame, pd.Series]:
    rows, y = make_stream(60)
    return pd.DataFrame(rows), pd.Series(y, name="y")
