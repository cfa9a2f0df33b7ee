"""Every benchmark runs, measures what it says it measures, and is shown as table, picture and JSON."""

import importlib
import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from typer.testing import CliRunner

from inctnp.bench import commands
from inctnp.bench.growth import exponent, series
from inctnp.bench.measured import Measured, Settings
from inctnp.bench.plots import draw
from inctnp.bench.tables import tables
from inctnp.bench.timing import Timing
from inctnp.models.inc_tnp import IncTNP
from tests.fused.conftest import narrow

EXPECTED: dict[str, dict[str, set[str]]] = {
    "streaming": {
        "predict and learn a row": {"fused", "fused int8", "eager", "copy", "again", "read once", "predicted"},
        "learn a row": {"fused", "eager", "copy", "read once", "predicted"},
        "ask 1": {"fused", "eager", "copy", "predicted"},
        "ask 250": {"fused", "eager", "copy"},
        "prefill": {"in chunks"},
        "extrapolated on paper: predict and learn a row": {"fused", "memory of 3 TB/s"},
    },
    "sampling": {"50 joint draws of 250": {"shared", "copy", "again"}},
    "density": {"joint density of 250": {"one pass", "one by one", "copy", "again"}},
    "training": {"training step, batch 16": {"bfloat16", "float32", "plain, bfloat16", "plain, float32"}},
    "endless": {"predict and learn a row": {"window of 1000"}},
    "many-streams": {
        "predict and learn a row of every stream": {
            "one call",
            "one call, int8",
            "loop, fused",
            "loop, eager",
            "batch of equal lengths",
        }
    },
}
PROCESSES: dict[str, dict[str, set[str]]] = {
    "startup": {"from start to end of a process": {"import torch", "import inctnp", "inctnp --help"}},
    "stream-cli": {"from the command to the last row": {"inctnp stream", "python alone"}},
    "peers": {"learn a row": {"inctnp-seq, fused", "exact gp", "wiski", "river-forest", "tnp-d, untrained"}},
}


def small_model() -> IncTNP:
    torch.manual_seed(0)
    return narrow("inctnp-seq", dim_x=20)


def measured(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Measured]:
    subject = commands.load(name)
    module = importlib.import_module(f"inctnp.bench.{name.replace('-', '_')}")
    if hasattr(module, "default_model"):
        monkeypatch.setattr(module, "default_model", small_model)
    for limit in ("TARGETS", "MANY"):
        if hasattr(module, limit):
            monkeypatch.setattr(module, limit, 3)
    return list(subject.measure(Settings(sizes=subject.quick, repeats=2, budget=0.2)))


def check(name: str, wanted: dict[str, set[str]], rows: list[Measured], folder: Path) -> None:
    subject = commands.load(name)
    seen: dict[str, set[str]] = {}
    for row in rows:
        seen.setdefault(row.work.replace("of 3", "of 250"), set()).add(row.variant)
    for work, variants in wanted.items():
        assert variants <= seen[work]
    assert any(subject.ours in variants for variants in seen.values())
    assert all(row.timing.low <= row.timing.median <= row.timing.high for row in rows if row.timing)
    console = Console(width=150, file=StringIO())
    console.print(*tables(subject, rows))
    assert all(variant in console.file.getvalue() for variants in wanted.values() for variant in variants)
    draw(subject, rows, folder / "picture.png")
    assert (folder / "picture.png").stat().st_size > 5000


@pytest.mark.parametrize("name", EXPECTED)
def test_every_piece_of_work_is_measured_against_every_rival(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check(name, EXPECTED[name], measured(name, monkeypatch), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROCESSES)
def test_whole_processes_and_peers_are_measured_too(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    check(name, PROCESSES[name], measured(name, monkeypatch), tmp_path)


def test_every_subject_is_a_command_and_the_other_way_round() -> None:
    assert set(commands.SUBJECTS) == EXPECTED.keys() | PROCESSES.keys()
    assert {command.name for command in commands.bench.registered_commands} == set(commands.SUBJECTS)


def test_offering_the_commands_loads_neither_torch_nor_rivals() -> None:
    """So that `inctnp --help` need not wait for them."""
    program = "import sys, inctnp.bench.commands; assert not {'torch', 'numpy', 'rich', 'river'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_command_prints_json_and_writes_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module: Any = importlib.import_module("inctnp.bench.density")
    monkeypatch.setattr(module, "default_model", small_model)
    monkeypatch.setattr(module, "TARGETS", 3)
    arguments = ["density", "--quick", "--sizes", "4,6", "--json", "--plot", "--out", str(tmp_path)]
    done = CliRunner().invoke(commands.bench, arguments, catch_exceptions=False)
    printed = json.loads(done.stdout)
    assert printed["subject"] == "density" and printed["machine"]["threads"] == 1
    assert {row["size"] for row in printed["rows"]} == {4, 6}
    assert json.loads((tmp_path / "bench-density.json").read_text())["rows"] == printed["rows"]
    assert (tmp_path / "bench-density.png").exists()


def test_exponents_are_those_of_the_largest_sizes() -> None:
    sizes = (1, 10, 100, 1000, 10_000)
    rows = [
        Measured(work="w", size=n, variant="v", timing=Timing(seconds, seconds, seconds))
        for n, seconds in zip(sizes, (50.0, 50.0, 1e2, 1e4, 1e6), strict=True)
    ]
    power = exponent(series(rows[::-1], "w")["v"])
    assert power is not None and abs(power - 2.0) < 1e-9
    assert exponent(rows[:1]) is None
