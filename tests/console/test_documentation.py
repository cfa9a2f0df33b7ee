"""Every console block of docs/stream-your-csv.md does what it shows, in the order of the page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "stream-your-csv.md"


def commands(text: str) -> list[tuple[str, str]]:
    """Commands and what they print; `[2]` at the end is an exit status, and `...` is anything within a line."""
    blocks = re.findall(r"^```console\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def as_pattern(shown: str) -> str:
    return ".*".join(re.escape(piece) for piece in shown.split("..."))


def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    pytest.importorskip("river")
    bins = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": bins, "OMP_NUM_THREADS": "1", "COLUMNS": "80"}
    told = commands(PAGE.read_text())
    assert len(told) > 12
    for command, shown in told:
        run = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        status = f"[{run.returncode}]\n" if run.returncode else ""
        lines = [line.rstrip() for line in (run.stdout + status).splitlines()]
        expected = shown.rstrip("\n").splitlines()
        assert len(lines) == len(expected), f"{command}\n{run.stdout}"
        for line, pattern in zip(lines, expected, strict=True):
            assert re.fullmatch(as_pattern(pattern), line), f"{command}\n{run.stdout}"
