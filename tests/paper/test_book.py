"""What stands above single artefacts: choosing them, the index, the claims, and dropping what is left behind."""

from dataclasses import replace
from pathlib import Path

import pytest

from inctnp.errors import UnknownNameError
from inctnp.paper.book import choose, make, names, trim
from inctnp.paper.cast import Cast
from inctnp.paper.catalogue import ARTEFACTS
from inctnp.paper.run import compute, ledger_of

SMALL = ARTEFACTS["fig28"]


def test_every_table_and_figure_with_numbers_is_there() -> None:
    drawn = {f"fig{n}" for n in range(1, 29)} - {"fig7", "fig8", "fig9"}  # architecture, training and a map
    assert set(ARTEFACTS) == drawn | {f"table{n}" for n in range(1, 9)}
    assert names()[-2:] == ["claims", "all"]


@pytest.mark.parametrize("typed", ["fig3", "Fig3", "fig_3"])
def test_names_are_read_with_good_will(typed: str) -> None:
    assert [artefact.name for artefact in choose(typed)] == ["fig3"]


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'fig28'"):
        choose("fig288")


def test_one_artefact_updates_the_pages_about_all(stand_ins: Cast, tmp_path: Path) -> None:
    (outcome,) = make([SMALL], "smoke", stand_ins, tmp_path, lambda artefact: lambda number, total, cell: None)
    assert outcome.complete
    index = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert index.count("\n| [") == len(ARTEFACTS)
    assert "[Figure 28](fig28.md)" in index
    assert "not tested" in (tmp_path / "claims.md").read_text(encoding="utf-8")


def test_drawing_measures_nothing(stand_ins: Cast, tmp_path: Path) -> None:
    (outcome,) = make([SMALL], "smoke", stand_ins, tmp_path)
    assert not outcome.results.rows
    assert "nothing measured yet" in (tmp_path / "fig28.md").read_text(encoding="utf-8")


def test_rows_of_other_settings_are_dropped_and_those_asked_for_kept(stand_ins: Cast, tmp_path: Path) -> None:
    before = replace(SMALL, settings={"smoke": replace(SMALL.settings["smoke"], targets=2)})
    for artefact in (before, SMALL):
        compute(artefact, "smoke", stand_ins, tmp_path)
    ledger = ledger_of(SMALL, "smoke", tmp_path)
    kept = compute(SMALL, "smoke", stand_ins, tmp_path).results.rows
    assert len(ledger.read()) == 2 * len(kept)
    assert trim("smoke", stand_ins, tmp_path) == len(kept)
    assert list(ledger.read().values()) == list(kept)
