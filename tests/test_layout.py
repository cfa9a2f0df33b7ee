"""docs/layout.md is the map: every folder and file of the package stands in it, and nothing else does."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "inctnp"
UNNAMED = {"__init__.py", "__main__.py", "py.typed", "__pycache__"}


def test_the_map_names_what_there_is() -> None:
    rows = [line for line in (ROOT / "docs" / "layout.md").read_text().splitlines() if line.startswith("| `")]
    named = {name.rstrip("/") for row in rows for name in re.findall(r"`([\w./]+)`", row.split("|")[1])}
    assert named == {path.name for path in PACKAGE.iterdir()} - UNNAMED


def test_files_named_in_a_row_are_in_its_folder() -> None:
    for row in (ROOT / "docs" / "layout.md").read_text().splitlines():
        if match := re.match(r"\| `(\w+)/`", row):
            for name in re.findall(r"`(\w+\.py)`", row):
                assert (PACKAGE / match[1] / name).is_file(), f"{match[1]}/{name}"
