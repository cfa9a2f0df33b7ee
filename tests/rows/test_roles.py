"""Which column is what."""

import gzip
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inctnp.errors import DataError
from inctnp.rows import Example, Reading, Roles, Skipped, Table, open_rows


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


anything = st.binary(max_size=200) | st.text('ab1-e.,;\t|"\n\r{}[]:éy\0', max_size=120).map(str.encode)
starts = st.sampled_from(
    [b"", b"a,y\n", b"a;y\n1;2\n", b'{"a": 1, "y": 2}\n', b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"]
)
readings = st.sampled_from(
    [Reading(), Reading(time="a"), Reading(decimal=",", delimiter=";"), Reading(encoding="latin-1")]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(start=starts, rest=anything, reading=readings, packed=st.booleans())
def test_whatever_a_file_holds_there_come_finite_outcomes_or_our_error(
    tmp_path: Path, start: bytes, rest: bytes, reading: Reading, packed: bool
) -> None:
    path, skipped = tmp_path / "table", Skipped()
    path.write_bytes(gzip.compress(start + rest) if packed else start + rest)
    try:
        table = open_rows(str(path), reading, skipped)
        Roles(target="y").check(table.columns)
        for example in Roles(target="y").examples(table, skipped):
            assert example.y is None or math.isfinite(example.y)
            assert "y" not in example.row
    except DataError as error:
        assert str(error)
