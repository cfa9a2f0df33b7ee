"""Files appear whole or not at all."""

import os
from pathlib import Path

import pytest

from inctnp.atomic import cache_dir, write_atomically


def test_a_failed_write_leaves_what_was_there_and_no_litter(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")

    def fail(part: Path) -> None:
        part.write_text("half of the n")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(target, fail)
    assert target.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["file"]


def test_nobody_sees_a_half_written_file(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "file"

    def write(part: Path) -> None:
        part.write_text("new")
        assert part.parent == target.parent and not target.exists()

    write_atomically(target, write)
    assert target.read_text() == "new"


def test_the_file_has_the_rights_any_new_file_has(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_atomically(tmp_path / "file", lambda part: part.write_text(""))
    finally:
        os.umask(old)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_the_cache_directory_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("INCTNP_CACHE", raising=False)
    assert cache_dir() == tmp_path / "xdg" / "inctnp"
    monkeypatch.setenv("INCTNP_CACHE", str(tmp_path / "mine"))
    assert cache_dir() == tmp_path / "mine"
