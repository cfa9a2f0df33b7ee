"""Verdicts follow from numbers and are never rosier than they are."""

import re
from pathlib import Path
from typing import Any

import pytest

from inctnp.paper.cast import Cast
from inctnp.paper.catalogue import ARTEFACTS
from inctnp.paper.claims import CLAIMS
from inctnp.paper.claims_page import AT_OUR_BUDGET, FAILS, HOLDS, UNTESTED, findings, verdict, write_claims
from inctnp.paper.evidence import Finding, ahead, below, grows_better, grows_with, level, times_slower
from inctnp.paper.results import Results
from inctnp.paper.run import collect

SOURCE = Path(__file__).parents[3] / "shared" / "paper" / "incremental-tnp.tex"


def row(values: dict[str, Any], **labels: Any) -> dict[str, Any]:
    return {"labels": labels, "setup": {}, "values": values}


def rows(mine: list[float], theirs: list[float], data: str = "1D GP", name: str = "ll") -> Results:
    return Results((row({name: mine}, model="inctnp-seq", data=data), row({name: theirs}, model="tnp-d", data=data)))


GOOD, BAD = Finding("a", True), Finding("b", False)
COUNT = Finding("c", True, counted=True)


@pytest.mark.parametrize(
    ("found", "scale", "expected"),
    [
        ([], "cpu", UNTESTED),
        ([GOOD], "cpu", AT_OUR_BUDGET),
        ([GOOD], "paper", HOLDS),
        ([COUNT], "cpu", HOLDS),
        ([COUNT, GOOD], "cpu", AT_OUR_BUDGET),
        ([GOOD, BAD, COUNT], "paper", FAILS),
    ],
)
def test_a_verdict_is_that_of_its_weakest_number(found: list[Finding], scale: str, expected: str) -> None:
    assert verdict({"table1": found, "fig1": []}, scale) == expected


@pytest.mark.parametrize(
    ("apart", "is_ahead", "is_level"),
    [
        ([0.1, 0.11, 0.12], True, True),
        ([0.1, -0.1, 0.03], False, False),  # better on average, but by less than its noise
        ([-0.01, -0.01, -0.01], False, True),
        ([-0.03, -0.03, -0.03], False, False),
        ([0.5], False, False),  # one number has no error
    ],
)
def test_a_difference_counts_when_it_is_clear_of_its_noise(apart: list[float], is_ahead: bool, is_level: bool) -> None:
    results = rows(apart, [0.0] * len(apart))
    assert [finding.holds for finding in ahead("inctnp-seq", "tnp-d")(results)] == [is_ahead]
    assert [finding.holds for finding in level("inctnp-seq")(results)] == [is_level]


def test_every_kind_of_data_is_a_number_of_its_own() -> None:
    results = Results((*rows([1.0, 1.1], [0.0, 0.0], "tables").rows, *rows([-1.0, -1.1], [0.0, 0.0]).rows))
    found = list(ahead("inctnp-seq", "tnp-d")(results))
    assert [finding.holds for finding in found] == [True, False]
    assert found[0].words.startswith("tables: incTNP-Seq − TNP-D = +1.050")


def test_streams_are_compared_at_their_end_and_with_their_beginning() -> None:
    results = Results(
        (
            row({"ll@8": [0.0, 0.0], "ll@64": [1.0, 1.1]}, model="inctnp-seq", data="Protein"),
            row({"ll@8": [9.0, 9.0], "ll@64": [0.0, 0.0]}, model="tnp-d", data="Protein"),
        )
    )
    assert [finding.holds for finding in ahead("inctnp-seq", "tnp-d")(results)] == [True]
    assert [finding.holds for finding in grows_better("inctnp-seq")(results)] == [True]
    assert [finding.holds for finding in grows_better("tnp-d")(results)] == [False]


def test_a_smaller_gap_has_to_be_smaller_task_by_task() -> None:
    judge = below("gap", "inctnp-seq", "tnp-d")
    assert [f.holds for f in judge(rows([1.0, 9.1, 3.9], [2.0, 10.0, 5.0], name="gap"))] == [True]
    assert [f.holds for f in judge(rows([1.0, 1.9, 0.1], [2.0, 2.9, -5.0], name="gap"))] == [False]


def test_a_gap_may_be_so_many_times_anothers() -> None:
    gaps = rows([1.4, 1.4, 1.3], [1.0, 1.0, 1.0], name="gap")
    assert [f.holds for f in below("gap", "inctnp-seq", "tnp-d", factor=1.5)(gaps)] == [True]
    assert [f.holds for f in below("gap", "inctnp-seq", "tnp-d", factor=1.2)(gaps)] == [False]


def test_growth_is_that_of_the_counts() -> None:
    lengths = (10, 20, 30, 50)
    counts = {f"flops@{n}": float(7 + 3 * n) for n in lengths}
    results = Results((row(counts, model="inctnp", cost="update"),))
    assert [f.holds for f in grows_with("update", "inctnp", 1)(results)] == [True]
    assert [f.holds for f in grows_with("update", "inctnp", 2)(results)] == [False]
    assert [f.holds for f in grows_with("update", "inctnp", 2, whole_stream=True)(results)] == [True]


def test_times_are_compared_where_both_were_taken_and_far_enough() -> None:
    slow = row({"seconds@10": 1.0, "seconds@100": 50.0, "seconds@1000": 1.0}, model="tnp-d", cost="update")
    fast = row({"seconds@10": 1.0, "seconds@100": 10.0}, model="inctnp", cost="update")
    results = Results((slow, fast))
    assert [f.holds for f in times_slower("tnp-d", "inctnp", 5.0)(results)] == [True]
    assert list(times_slower("tnp-d", "inctnp", 5.0, since=1000)(results)) == []


def test_every_claim_names_artefacts_and_is_silent_without_rows() -> None:
    nothing = {name: collect(artefact, "cpu", Cast(), Path("nowhere")) for name, artefact in ARTEFACTS.items()}
    for claim in CLAIMS:
        assert claim.evidence.keys() <= ARTEFACTS.keys()
        assert verdict(findings(claim, nothing), "cpu") == UNTESTED


def test_every_artefact_bears_on_a_claim_but_those_that_repeat_another() -> None:
    used = {name for claim in CLAIMS for name in claim.evidence}
    assert set(ARTEFACTS) - used == {"table2", "table6", "fig18", "fig19", "fig21", "fig23"}


def test_claims_are_judged_from_the_rows_of_a_smoke_test(stand_ins: Cast, made: Path) -> None:
    every = [collect(artefact, "smoke", stand_ins, made) for artefact in ARTEFACTS.values()]
    text = write_claims(every, made).read_text(encoding="utf-8")
    assert len(re.findall(r"^\| (?!part)[A-Z]", text, re.MULTILINE)) == len(CLAIMS)
