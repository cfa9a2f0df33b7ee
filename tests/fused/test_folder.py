"""Compiled code lies where its user can write, once for everything it depends on, and processes may race for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inctnp.fused import folder


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("INCTNP_CACHE", str(tmp_path))
    return tmp_path


def test_the_folder_is_the_users_and_is_known_to_be_empty(elsewhere: Path) -> None:
    assert folder.folder().parent == elsewhere / "fused" and not folder.is_compiled()
    home = folder.writable_folder()
    assert home == folder.folder() and home.is_dir()
    (home / "sub").mkdir()
    (home / "sub" / "_step.1.nbc").touch()
    assert folder.is_compiled()


def test_another_processor_has_another_folder(elsewhere: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = folder.folder()
    other = tmp_path / "cpuinfo"
    other.write_text("processor : 0\nmodel name : Abacus\nflags : beads\n")
    with monkeypatch.context() as patch:
        patch.setattr(folder, "PROCESSOR", other)
        folder._fingerprint.cache_clear()
        there = folder.folder()
    folder._fingerprint.cache_clear()
    assert there != here and folder.folder() == here


def test_where_nothing_can_be_written_there_is_no_folder(elsewhere: Path) -> None:
    (elsewhere / "fused").write_text("in the way")
    assert folder.writable_folder() is None


def test_compiling_ahead_says_where_it_is_kept() -> None:
    done = subprocess.run([sys.executable, "-m", "inctnp.fused"], check=True, capture_output=True, text=True)
    assert "Ready after" in done.stdout and str(folder.folder()) in done.stdout and folder.is_compiled()


@pytest.mark.slow
def test_two_processes_compile_at_once_and_a_third_finds_it(elsewhere: Path) -> None:
    command, environment = [sys.executable, "-m", "inctnp.fused"], {**os.environ, "INCTNP_CACHE": str(elsewhere)}
    both = [subprocess.Popen(command, env=environment) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    kept = sorted(folder.folder().rglob("*"))
    subprocess.run(command, env=environment, check=True)
    assert sorted(folder.folder().rglob("*")) == kept and folder.is_compiled()


@pytest.mark.slow
def test_without_a_folder_every_process_compiles_for_itself(elsewhere: Path) -> None:
    (elsewhere / "fused").write_text("in the way")
    subprocess.run(
        [sys.executable, "-m", "inctnp.fused"], env={**os.environ, "INCTNP_CACHE": str(elsewhere)}, check=True
    )
    assert list(elsewhere.iterdir()) == [elsewhere / "fused"]
