"""A tiny model in a folder, a table, and the command line as it is typed."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from inctnp.cli import app
from inctnp.pretrained.weights import save_pretrained
from inctnp.testing.toy import toy_model
from tests.regressor.conftest import make_stream

Typed = Callable[..., Result]
Table = Callable[[int], Path]


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("model") / "toy"
    save_pretrained(toy_model("inctnp-seq", dim_x=8, prior=True, components=2), folder)
    return str(folder)


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, list(words), input=stdin)

    return run


@pytest.fixture
def stream(typed: Typed, toy: str) -> Typed:
    """`inctnp stream`, by the tiny model and for a target called y."""

    def run(source: str, *words: str, stdin: str | bytes | None = None) -> Result:
        return typed("stream", source, "--target", "y", "--model", toy, *words, stdin=stdin)

    return run


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """A CSV file of so many rows; numbers, texts, moments, missing values."""

    def write(rows: int) -> Path:
        path = tmp_path / "table.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["speed", "line", "at", "on", "y"])
            for row, y in zip(*make_stream(rows), strict=True):
                speed = "" if row["speed"] is None else row["speed"]
                writer.writerow([speed, row["line"], row["at"].isoformat(), row["on"], repr(y)])
        return path

    return write


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]
