"""One JSON object a line."""

import datetime as dt
import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inctnp.errors import DataError
from inctnp.rows import Reading, Skipped, open_rows


def rows(folder: Path, content: str, **reading: object) -> list[tuple[int, dict[str, object]]]:
    path = folder / "rows"
    path.write_text(content)
    return list(open_rows(str(path), Reading(**reading)).rows)


def test_values_keep_their_types_and_texts_are_looked_at(tmp_path: Path) -> None:
    line = '{"a": 1, "b": true, "c": null, "d": "2024-05-01", "e": "3.5", "f": "red", "g": NaN, "h": {"i": 2}}'
    expected = {
        "a": 1.0,
        "b": 1.0,
        "c": None,
        "d": dt.datetime(2024, 5, 1),
        "e": 3.5,
        "f": "red",
        "g": None,
        "h.i": 2.0,
    }
    assert rows(tmp_path, line + "\n\n" + '{"z": "x"}') == [(1, expected), (3, {"z": "x"})]


def test_a_time_column_may_count_since_1970(tmp_path: Path) -> None:
    found = rows(tmp_path, '{"t": 86400}\n{"t": "1970-01-03"}', time="t")
    assert [row["t"] for _, row in found] == [dt.datetime(1970, 1, 2), dt.datetime(1970, 1, 3)]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"a": 1}\n{"a": }', "Line 2 is not JSON"),
        ('[{"a": 1}]', "jq -c"),
        ('{"a": [1, 2]}', "'a' holds a list"),
        ('{"a": ' + "[" * 100_000, "Line 1 is not JSON"),
        ('{"a": ' + "9" * 5000 + "}", "Line 1 is not JSON"),
        ('{"a": 1}\n7', "Line 2 holds a int"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, content: str, told: str) -> None:
    with pytest.raises(DataError) as caught:
        rows(tmp_path, content)
    assert told in str(caught.value)


def test_a_number_beyond_all_floats_is_infinite(tmp_path: Path) -> None:
    assert rows(tmp_path, '{"a": -1' + "0" * 400 + "}") == [(1, {"a": -math.inf})]


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
broken = st.text('{}[]":,1a\0 é', max_size=20).filter(lambda text: "\n" not in text)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(lines=st.lists(st.dictionaries(st.text(max_size=4), values, max_size=4).map(json.dumps) | broken, max_size=6))
def test_good_lines_are_read_and_bad_ones_counted(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "rows"
    path.write_text('{"first": 1}\n' + "\n".join(lines))
    skipped = Skipped()
    found = list(open_rows(str(path), Reading(format="jsonl"), skipped).rows)
    assert len(found) + skipped.count == 1 + sum(bool(line.strip()) for line in lines)
