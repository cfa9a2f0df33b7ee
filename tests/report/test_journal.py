"""What is remembered of a stream."""

import itertools
import math
import random
from statistics import NormalDist, mean

import pytest

from inctnp.report import Journal, Record
from inctnp.report.journal import BESIDE_IT, FIRST, INSIDE, LAST, LAST_VALUE, SCORE, SQUARED

Z = NormalDist().inv_cdf(0.95)


def records(rows: int, spread: float = 1.0, keys: int = 0, bias: float = 0.0) -> list[Record]:
    """Standard normal outcomes, predicted with this spread."""
    rng, made = random.Random(3), []
    for row in range(1, rows + 1):
        p, y = NormalDist(bias, spread), rng.gauss(0, 1)
        ends = (bias - Z * spread, bias + Z * spread)
        key = f"s{row % keys}" if keys else None
        made.append(Record(row, y, bias, spread, *ends, math.log(p.pdf(y)), key, p.cdf(y), 0.002))
    return made


def journal_of(made: list[Record]) -> Journal:
    journal = Journal()
    for record in made:
        journal.add(record)
    return journal


def test_totals_are_those_of_all_rows() -> None:
    made = records(2000)
    journal = journal_of(made)
    assert journal.total(SCORE) == pytest.approx(mean(r.log_score for r in made))
    assert journal.total(SQUARED) == pytest.approx(mean(r.y**2 for r in made))
    assert journal.total(INSIDE) == pytest.approx(mean(r.lower <= r.y <= r.upper for r in made))
    naive = mean((b.y - a.y) ** 2 for a, b in itertools.pairwise(made))
    assert journal.total(LAST_VALUE) == pytest.approx(naive)
    assert journal.total(BESIDE_IT) == pytest.approx(mean(r.y**2 for r in made[1:]))


def test_coverage_at_every_level_is_read_off_the_pit() -> None:
    made = records(4000, spread=0.6)
    journal = journal_of(made)
    for level in (0.1, 0.5, 0.9):
        edge = NormalDist(0, 0.6).inv_cdf(0.5 + level / 2)
        assert journal.coverage(level) == pytest.approx(mean(abs(r.y) <= edge for r in made), abs=0.01)


def test_the_first_and_the_last_rows_are_kept_and_no_others() -> None:
    journal = journal_of(records(1000))
    assert [r.row for r in journal.first] == list(range(1, FIRST + 1))
    assert [r.row for r in journal.last] == list(range(1001 - LAST, 1001))


def test_of_many_streams_one_is_shown_and_the_last_value_is_its_own() -> None:
    made = records(300, keys=3)
    journal = journal_of(made)
    assert journal.keys == {"s0", "s1", "s2"}
    assert {r.key for r in journal.first} == {"s1"}
    naive = mean((b.y - a.y) ** 2 for a, b in zip(made, made[3:], strict=False))
    assert journal.total(LAST_VALUE) == pytest.approx(naive)


def test_latency_is_known_to_a_few_per_cent() -> None:
    journal = journal_of(records(100))
    assert journal.latency_below(0.5) == pytest.approx(0.002, rel=0.05)


def test_rows_without_outcome_count_as_predicted_only() -> None:
    journal = journal_of([Record(1, None, 0.0, 1.0, -1.0, 1.0, None)])
    assert (journal.rows, journal.outcomes) == (1, 0)
    assert math.isnan(journal.total(SCORE))
    assert math.isnan(journal.coverage(0.9))
