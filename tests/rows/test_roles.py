"""Which column is what."""

import pytest

from inctnp.errors import DataError
from inctnp.rows import Example, Roles, Skipped, Table


def table(*rows: dict[str, object]) -> Table:
    return Table("a table", None, iter(enumerate(rows, start=2)))


def test_rows_are_taken_apart() -> None:
    examples = Roles(target="y", key="id").examples(table({"id": "A", "a": 1.0, "y": 2.0}, {"id": "B", "a": 3.0}))
    assert list(examples) == [Example(2, {"a": 1.0}, 2.0, "A"), Example(3, {"a": 3.0}, None, "B")]


@pytest.mark.parametrize("y", ["high", float("inf"), "1,5"])
def test_an_outcome_that_is_no_number_is_refused_with_its_line(y: object) -> None:
    rows = [{"y": 1.0}, {"y": y}, {"y": 3.0}]
    with pytest.raises(DataError, match="Line 3: 'y' is"):
        list(Roles(target="y").examples(table(*rows)))
    skipped = Skipped()
    assert [example.y for example in Roles(target="y").examples(table(*rows), skipped)] == [1.0, 3.0]
    assert skipped.count == 1


def test_a_row_without_a_key_belongs_nowhere() -> None:
    with pytest.raises(DataError, match="Line 2 has no 'id'"):
        list(Roles(target="y", key="id").examples(table({"y": 1.0})))


def test_a_missing_column_is_answered_with_the_nearest() -> None:
    with pytest.raises(DataError, match="did you mean 'Target'"):
        Roles(target="target").check(("a", "Target"))
    with pytest.raises(DataError, match="no column 't'; there are a, y"):
        Roles(target="y").check(("a", "y"), ("t",))
    Roles(target="y", labelled=False).check(("a",))
    Roles(target="y").check(None)
