import gzip
import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from inctnp.errors import DataError, MissingDataError, UnknownNameError
from inctnp.generators import files

CONTENT = b"a,y\r\n1,2\r\n"
PLAIN = b"a,y\n1,2\n"
NAME = "toy/toy.csv.gz"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty machine: no data folder, an empty cache, and one known file with a public copy."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("INCTNP_DATA", str(tmp_path / "data"))
    archive = tmp_path / "public.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("toy.csv", CONTENT)
    public = files.Download(url=archive.as_uri(), sha256=hashlib.sha256(PLAIN).hexdigest(), member="toy.csv")
    toy = files.DataFile(
        name=NAME, sha256="0" * 64, licence="none", redistributable=False, home="nowhere", download=public
    )
    monkeypatch.setitem(files.FILES, NAME, toy)
    return tmp_path


def test_a_download_lands_in_the_cache_and_is_found_there(home: Path) -> None:
    assert files.why_missing(NAME) is not None
    path = files.download(NAME)
    assert path == home / "cache" / "inctnp" / "data" / NAME
    assert files.find(NAME) == path
    assert gzip.decompress(path.read_bytes()) == PLAIN
    assert [p.name for p in path.parent.iterdir()] == ["toy.csv.gz"]
    assert files.why_missing(NAME) is None


def test_a_changed_public_copy_is_refused_and_leaves_nothing_behind(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = files.FILES[NAME]
    assert file.download is not None
    monkeypatch.setitem(files.FILES, NAME, replace(file, download=replace(file.download, sha256="1" * 64)))
    with pytest.raises(DataError, match="not the expected file"):
        files.download(NAME)
    assert not (home / "cache").exists()


def test_the_named_folder_comes_before_the_cache(home: Path) -> None:
    files.download(NAME)
    own = home / "data" / NAME
    own.parent.mkdir(parents=True)
    own.write_bytes(gzip.compress(PLAIN, compresslevel=1))
    assert files.find(NAME) == own


@pytest.mark.parametrize("damage", [b"not gzip at all", gzip.compress(b"other,content\n", mtime=0)])
def test_a_damaged_file_is_an_error_even_after_a_good_look(home: Path, damage: bytes) -> None:
    path = files.download(NAME)
    assert files.find(NAME) == path
    path.write_bytes(damage)
    with pytest.raises(DataError, match="Remove it"):
        files.find(NAME)


def test_a_missing_file_says_where_it_was_looked_for_and_where_to_get_it(home: Path) -> None:
    with pytest.raises(MissingDataError, match=r"files\.download") as error:
        files.find(NAME)
    assert str(home / "data") in str(error.value) and "INCTNP_DATA" in str(error.value)
    assert isinstance(error.value, FileNotFoundError)


def test_a_file_without_a_pinned_copy_sends_the_user_to_its_home(home: Path) -> None:
    with pytest.raises(MissingDataError, match="openml"):
        files.download("uci/elevators.csv.gz")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="uci/CASP"):
        files.find("uci/casp.csv")


def test_every_file_that_is_here_is_the_one_in_the_registry() -> None:
    present = [name for name in files.FILES if files.why_missing(name) is None]
    if not present:
        pytest.skip(f"no data on this machine: {files.why_missing(next(iter(files.FILES)))}")
    for name in present:
        file, raw = files.known(name), files.find(name).read_bytes()
        pins = {file.sha256, file.download.sha256 if file.download else file.sha256}
        content = gzip.decompress(raw) if name.endswith(".gz") else raw
        assert pins & {hashlib.sha256(raw).hexdigest(), hashlib.sha256(content).hexdigest()}, name
