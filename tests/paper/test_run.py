"""Rows are kept as they come, and computed again only when something that decides them has changed."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values
from inctnp.paper.page import write_page
from inctnp.paper.run import collect, compute, ledger_of

PLAYER = Player(model="cnp", name="toy/cnp", origin="a" * 64)


@dataclass
class Work:
    """Counts what is measured, and is interrupted at one of the cells."""

    interrupted_at: int = -1
    player: Player = PLAYER
    setup: dict[str, Any] = field(default_factory=lambda: {"tasks": 3})
    missing: str = ""
    taken: list[int] = field(default_factory=list)

    def measure(self, number: int) -> Values:
        if number == self.interrupted_at:
            raise KeyboardInterrupt
        self.taken.append(number)
        return {"ll": [float(number), number + 2.0], "seconds": 0.5}

    def plan(self, settings: int, cast: Cast) -> Iterable[Cell]:
        for number in range(settings):
            yield Cell(
                labels={"model": "cnp", "part": number},
                setup=self.setup,
                player=self.player,
                measure=lambda number=number: self.measure(number),  # type: ignore[misc]
                missing=self.missing,
            )

    def artefact(self) -> Artefact:
        return Artefact(
            name="table99",
            title="toy",
            shows="Nothing.",
            study="toy",
            settings=scales(4, 4, 4),
            plan=self.plan,
            tell=lambda results: [f"{len(results.rows)} rows"],
        )


def test_an_interruption_loses_nothing_that_was_measured(tmp_path: Path) -> None:
    work = Work(interrupted_at=2)
    with pytest.raises(KeyboardInterrupt):
        compute(work.artefact(), "cpu", Cast(), tmp_path)
    assert collect(work.artefact(), "cpu", Cast(), tmp_path).absent == {("", "cnp"): "not computed yet"}
    work.interrupted_at = -1
    outcome = compute(work.artefact(), "cpu", Cast(), tmp_path)
    assert (work.taken, outcome.measured, outcome.complete) == ([0, 1, 2, 3], 2, True)


def test_scales_and_places_do_not_share_rows(tmp_path: Path) -> None:
    work = Work()
    compute(work.artefact(), "cpu", Cast(), tmp_path)
    assert compute(work.artefact(), "paper", Cast(), tmp_path).measured == 4


@pytest.mark.parametrize(
    "change",
    [{"player": replace(PLAYER, origin="b" * 64)}, {"setup": {"tasks": 4}}],
    ids=["other weights", "other settings"],
)
def test_what_decides_the_numbers_has_them_measured_again(change: dict[str, Any], tmp_path: Path) -> None:
    compute(Work().artefact(), "cpu", Cast(), tmp_path)
    later = Work(**change)
    outcome = compute(later.artefact(), "cpu", Cast(), tmp_path)
    assert outcome.measured == 4
    assert {row["model"]["weights"] for row in outcome.results.rows} == {later.player.origin}
    assert {row["setup"]["tasks"] for row in outcome.results.rows} == {later.setup["tasks"]}


def test_a_row_says_everything_it_depends_on(tmp_path: Path) -> None:
    row = compute(Work().artefact(), "cpu", Cast(), tmp_path).results.rows[1]
    assert row["values"] == {"ll": [1.0, 3.0], "seconds": 0.5}
    assert row["summary"] == {"ll": {"mean": 2.0, "sem": 1.0, "units": 2}}
    assert row["setup_hash"] and row["seconds"] >= 0 and row["threads"] >= 1
    assert row["model"]["weights"] == PLAYER.origin


def test_what_is_missing_is_told_and_nothing_is_measured_for_it(tmp_path: Path) -> None:
    work = Work(missing="data file rain.csv not found")
    outcome = compute(work.artefact(), "cpu", Cast(), tmp_path)
    assert not work.taken
    page = write_page(outcome, tmp_path).read_text(encoding="utf-8")
    assert "data file rain.csv not found: CNP" in page
    assert "nothing measured yet" in page


def test_counts_are_kept_to_the_last_digit(tmp_path: Path) -> None:
    work = Work()
    work.measure = lambda number: {"flops@8": 4_101_202_303.0, "seconds@8": 1 / 3}  # type: ignore[method-assign]
    row = compute(work.artefact(), "cpu", Cast(), tmp_path).results.rows[0]
    assert row["values"] == {"flops@8": 4_101_202_303.0, "seconds@8": 0.3333333}


def test_numbers_that_are_none_are_kept_as_none(tmp_path: Path) -> None:
    work = Work()
    work.measure = lambda number: {"ll": math.nan, "gap": [math.inf, 1.0]}  # type: ignore[method-assign, assignment]
    artefact = work.artefact()
    compute(artefact, "cpu", Cast(), tmp_path)
    kept = ledger_of(artefact, "cpu", tmp_path).read()
    assert {str(row["values"]) for row in kept.values()} == {"{'ll': None, 'gap': [None, 1.0]}"}
    results = collect(artefact, "cpu", Cast(), tmp_path).results
    assert math.isnan(results.units("ll")[0].item())
