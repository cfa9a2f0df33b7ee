"""docs/paper-map.md is complete, and everything it points to exists."""

import pkgutil
import re
from pathlib import Path

import pytest

from inctnp.paper.catalogue import ARTEFACTS

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
EXPECTED = {"Eq": [*range(1, 24), *range(48, 53)], "Alg": [1, 2], "Tab": range(1, 9), "Fig": range(1, 29)}


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(inctnp[\w.]+)`", TEXT))))
def test_every_code_path_imports(path: str) -> None:
    pkgutil.resolve_name(path)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(tests/[\w/.]+)`", TEXT))))
def test_every_test_file_exists(path: str) -> None:
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("kind", EXPECTED)
def test_nothing_of_the_paper_is_missing(kind: str) -> None:
    named = {int(number) for number in re.findall(rf"^\| {kind}\. (\d+) \|", TEXT, re.MULTILINE)}
    assert named == set(EXPECTED[kind])


def test_a_row_names_code_or_says_that_there_is_none() -> None:
    rows = [line for line in TEXT.splitlines() if re.match(r"\| (Eq|Alg|Tab|Fig)\.", line)]
    assert not [row for row in rows if "`inctnp" not in row and "no code" not in row]


@pytest.mark.parametrize("name", ARTEFACTS)
def test_every_artefact_is_found_in_the_row_of_its_name(name: str) -> None:
    kind, number = (
        ("Tab", name.removeprefix("table")) if name.startswith("table") else ("Fig", name.removeprefix("fig"))
    )
    (row,) = re.findall(rf"^\| {kind}\. {number} \|.*", TEXT, re.MULTILINE)
    (module,) = re.findall(rf"`(inctnp\.paper\.{name}_\w+)`", row)
    assert getattr(pkgutil.resolve_name(module), name.upper()) is ARTEFACTS[name]
