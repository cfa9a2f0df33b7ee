"""Every table and figure, from nothing to its page, at the smallest scale."""

from itertools import islice
from pathlib import Path

import pytest

from inctnp.paper.cast import Cast
from inctnp.paper.catalogue import ARTEFACTS
from inctnp.paper.page import write_page
from inctnp.paper.run import collect, compute

EXPLAINED = ("data", "not found")
STUDIES = {artefact.study: artefact.name for artefact in ARTEFACTS.values()}


@pytest.mark.parametrize("name", ARTEFACTS)
def test_an_artefact_is_measured_once_and_told_from_its_rows(name: str, stand_ins: Cast, made: Path) -> None:
    artefact = ARTEFACTS[name]
    outcome = compute(artefact, "smoke", stand_ins, made)
    assert all(all(word in reason for word in EXPLAINED) for reason in outcome.absent.values())
    if len(outcome.absent) and not outcome.results.rows:
        pytest.skip("; ".join(sorted(set(outcome.absent.values()))))
    assert outcome.results.rows
    assert compute(artefact, "smoke", stand_ins, made).measured == 0
    page = write_page(collect(artefact, "smoke", stand_ins, made), made).read_text(encoding="utf-8")
    assert page.startswith(f"# {artefact.label}: ")
    assert "|---|" in page
    assert "nan" not in page.lower().split()
    picture = made / f"{name}.png"
    assert picture.is_file() == (artefact.draw is not None)


@pytest.mark.parametrize("name", STUDIES.values())
@pytest.mark.parametrize("scale", ["cpu", "paper"])
def test_larger_scales_can_be_planned_without_weights_or_data(name: str, scale: str) -> None:
    artefact = ARTEFACTS[name]
    cells = list(islice(artefact.plan(artefact.at(scale), Cast()), 300))
    keys = {cell.key(artefact.study) for cell in cells}
    assert cells
    assert len(keys) == len(cells)


def test_a_figure_with_a_picture_says_so_in_its_page(stand_ins: Cast, made: Path) -> None:
    outcome = compute(ARTEFACTS["fig5"], "smoke", stand_ins, made)
    assert "](fig5.png)" in write_page(outcome, made).read_text(encoding="utf-8")
