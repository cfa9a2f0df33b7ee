"""Tables with a header and a delimiter."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inctnp.errors import DataError
from inctnp.rows import Reading, Skipped, open_rows
from inctnp.rows.values import value_of


def written(folder: Path, content: str | bytes) -> str:
    path = folder / "table"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def rows(folder: Path, content: str | bytes, **reading: object) -> list[tuple[int, dict[str, object]]]:
    return list(open_rows(written(folder, content), Reading(**reading)).rows)


@pytest.mark.parametrize("delimiter", list(",;\t|"))
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    text = f"a{delimiter}b b{delimiter}y\n1{delimiter}x{delimiter}2\n"
    assert rows(tmp_path, text) == [(2, {"a": 1.0, "b b": "x", "y": 2.0})]


def test_quotation_marks_protect_delimiters_and_line_ends(tmp_path: Path) -> None:
    text = 'a,y\n"one, two\nthree",1\nlast,2\n'
    assert rows(tmp_path, text) == [(2, {"a": "one, two\nthree", "y": 1.0}), (4, {"a": "last", "y": 2.0})]


def test_marks_of_other_systems_do_no_harm(tmp_path: Path) -> None:
    assert rows(tmp_path, b"\xef\xbb\xbfa;y\r\n1;2\r\n\r\n3;4") == [
        (2, {"a": 1.0, "y": 2.0}),
        (4, {"a": 3.0, "y": 4.0}),
    ]


def test_a_decimal_comma_is_a_choice(tmp_path: Path) -> None:
    assert rows(tmp_path, "a;y\n1,5;-2,25e3\n", decimal=",") == [(2, {"a": 1.5, "y": -2250.0})]


def test_dropped_columns_are_not_read_and_names_stay_text(tmp_path: Path) -> None:
    found = rows(tmp_path, "id,a,y\n007,1,2\n", drop=frozenset({"a"}), as_text=frozenset({"id"}))
    assert found == [(2, {"id": "007", "y": 2.0})]


def test_a_moment_out_of_all_bounds_breaks_its_row_only(tmp_path: Path) -> None:
    path, skipped = written(tmp_path, "t,y\n1e300,1\n0,2\n31.12.,3\n"), Skipped()
    found = list(open_rows(path, Reading(time="t"), skipped).rows)
    assert [row["y"] for _, row in found] == [2.0, 3.0]
    assert skipped.count == 1


def test_a_column_without_a_name_gets_one(tmp_path: Path) -> None:
    assert rows(tmp_path, ",y\n0,2\n") == [(2, {"column_1": 0.0, "y": 2.0})]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,y\n", "holds a header (a, y) and no rows"),
        ("a,b,a\n1,2,3\n", "2 columns called 'a' (places 1, 3)"),
        ("1,2,3\n4,5,6\n", "there is no header"),
        (b"PK\x03\x04\x00\x00\n", "is not text"),
        ("a,y\n1,2\n".encode("utf-16"), "is UTF-16"),
        ("a,y\n1,2\n1,2,3\n", "Line 3 has 3 values where the header has 2"),
        ("a,y\n1\n", "Line 2 has 1 values where the header has 2"),
        (b"a,y\r1,2\r", "line feed"),
        (b"a,y\n\xe9t\xe9,2\n", "Line 2"),
        ('a,y\n"1,2\n' + "3,4\n" * 60_000, "quotation mark"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, content: str | bytes, told: str) -> None:
    with pytest.raises(DataError) as caught:
        rows(tmp_path, content)
    assert told in str(caught.value)


def test_a_wrong_delimiter_is_answered_with_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="give --delimiter ';'"):
        rows(tmp_path, "a;b;y\n1;2;3\n", delimiter=",")


def test_broken_rows_can_be_left_out_and_counted(tmp_path: Path) -> None:
    told: list[str] = []
    skipped = Skipped(told.append)
    text = b"a,y\n1,2\n1\n3,4\n\xff,1\n5,6,7\n" + b"8\n" * 20 + b"9,10\n"
    found = list(open_rows(written(tmp_path, text), refuse=skipped).rows)
    assert [number for number, _ in found] == [2, 4, 27]
    assert skipped.count == 23
    assert len(told) == 6
    assert "Line 3" in told[0]


def test_latin_1_is_read_when_asked_for(tmp_path: Path) -> None:
    assert rows(tmp_path, "a,y\nété,2\n".encode("latin-1"), encoding="latin-1") == [(2, {"a": "été", "y": 2.0})]


names = st.text("abcdefg é,;\"\n'", min_size=1, max_size=6).filter(lambda name: name.strip() and name[0] not in "{[\n ")
cells = st.one_of(st.floats(allow_nan=False).map(repr), st.text(max_size=8), st.sampled_from(["", "NA", "2024-01-02"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.data(), delimiter=st.sampled_from(list(",;\t|")))
def test_whatever_a_writer_writes_is_read_back(tmp_path: Path, data: st.DataObject, delimiter: str) -> None:
    header = data.draw(st.lists(names, min_size=2, max_size=4, unique_by=str.strip))
    table = data.draw(st.lists(st.tuples(*[cells] * len(header)), min_size=1, max_size=5))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([header, *table])
    found = rows(tmp_path, text.getvalue().encode("utf-8", "surrogatepass"), delimiter=delimiter)
    expected = [dict(zip(map(str.strip, header), map(value_of, cells), strict=True)) for cells in table]
    assert [row for _, row in found] == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(content=st.binary(max_size=300) | st.text('ab1.,;\t|"\n\r{}[]:é\0', max_size=120).map(str.encode))
def test_no_file_whatever_gets_anything_but_rows_or_our_error(tmp_path: Path, content: bytes) -> None:
    path, skipped = written(tmp_path, content), Skipped()
    try:
        table = open_rows(path, refuse=skipped)
        for _, row in table.rows:
            assert table.columns is None or list(row) == list(table.columns)
    except DataError:
        pass
