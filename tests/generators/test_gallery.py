from pathlib import Path

import pytest
from matplotlib.text import Text

from inctnp.generators import files, gallery


def words(figure: object) -> str:
    return " ".join(text.get_text() for text in figure.findobj(Text))


def test_without_data_every_panel_of_data_says_what_is_missing(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "folders", lambda: [tmp_path])
    text = words(gallery.draw_page())
    assert text.replace("\n", " ").count("is not here") == 8
    for title in ("Gaussian processes", "Distribution shift", "Tabular prior", "UCI tables", "Weather stations"):
        assert title in text


def test_with_data_every_source_is_drawn(own_cache: Path) -> None:
    if why := files.why_missing(*files.FILES):
        pytest.skip(why)
    text = words(gallery.draw_page())
    assert "is not here" not in text and "2805 HadISD stations" in text


def test_the_page_is_written_where_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    monkeypatch.setattr(gallery, "draw_page", lambda seed: Figure())
    gallery.main(out=tmp_path / "page.png", seed=1)
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
