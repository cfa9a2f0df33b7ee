"""A tiny model with a prior token, and streams of rows of every kind."""

import datetime as dt
from typing import Any

import numpy as np
import pytest

from inctnp.models.base import NeuralProcess
from inctnp.testing.toy import toy_model

Stream = tuple[list[dict[str, Any]], list[float]]


@pytest.fixture(scope="session")
def model() -> NeuralProcess:
    """In float64: what is claimed to be equal is equal to rounding."""
    return toy_model("inctnp-seq", dim_x=8, prior=True, components=2)


def make_stream(rows: int, seed: int = 0) -> Stream:
    """Numbers, texts, moments and missing values, and an outcome that depends on them and on its own past."""
    rng = np.random.default_rng(seed)
    table: list[dict[str, Any]] = []
    y: list[float] = []
    level = 0.0
    for i in range(rows):
        line = "ABCD"[rng.integers(4)]
        row = {
            "speed": None if rng.random() < 0.1 else float(rng.normal(50.0, 10.0)),
            "line": line,
            "at": dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=3 * i),
            "on": bool(rng.random() < 0.5),
        }
        level = 0.8 * level + float(rng.normal())
        y.append(100.0 + level + 0.2 * (row["speed"] or 50.0) + "ABCD".index(line))
        table.append(row)
    return table, y
