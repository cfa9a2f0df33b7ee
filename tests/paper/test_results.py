import math
from typing import Any

import pytest
from scipy import stats

from inctnp.paper.results import Results


def row(model: str, part: int, values: Any, source: str = "gp") -> dict[str, Any]:
    return {"labels": {"model": model, "part": part}, "setup": {"source": source}, "values": {"ll": values}}


ROWS = Results((row("a", 0, [1.0, 2.0]), row("a", 1, [4.0]), row("b", 1, [3.0]), row("b", 0, [1.5, 1.0])))


def test_scores_are_means_with_the_standard_error_of_independent_units() -> None:
    score = ROWS.where(model="a").score("ll")
    assert score is not None
    assert (score.mean, score.tasks) == (pytest.approx(7 / 3), 3)
    assert score.sem == pytest.approx(stats.sem([1.0, 2.0, 4.0]))


def test_differences_are_taken_unit_by_unit_whatever_the_order_of_the_rows() -> None:
    apart = ROWS.where(model="a").difference(ROWS.where(model="b"), "ll")
    assert apart is not None
    assert apart.mean == pytest.approx((-0.5 + 1.0 + 1.0) / 3)
    assert apart.sem == pytest.approx(stats.sem([-0.5, 1.0, 1.0]))


def test_units_of_different_sources_are_not_compared() -> None:
    other = Results((row("b", 0, [0.0, 0.0], source="tables"), row("b", 1, [3.0])))
    apart = ROWS.where(model="a").difference(other, "ll")
    assert apart is not None
    assert (apart.mean, apart.tasks) == (1.0, 1)


def test_what_was_not_measured_has_no_score() -> None:
    nobody = ROWS.where(model="c")
    assert nobody.score("ll") is None
    assert nobody.number("ll") is None
    assert ROWS.where(model="a").difference(nobody, "ll") is None
    assert math.isnan(Results((row("a", 0, 1.0),)).score("ll").sem)  # type: ignore[union-attr]


def test_labels_and_names_come_once_in_order() -> None:
    assert ROWS.labels("model") == ["a", "b"]
    assert ROWS.names() == ["ll"]
