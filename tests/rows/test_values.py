"""What a piece of text means."""

import datetime as dt
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inctnp.rows.values import MISSING, moment_of, moment_reader, text_of, value_of, value_with_comma


@given(st.floats(allow_nan=False))
def test_every_number_that_python_prints_is_read_back(number: float) -> None:
    assert value_of(repr(number)) == number
    assert value_with_comma(repr(number).replace(".", ",")) == number


zones = st.none() | st.just(dt.UTC) | st.just(dt.timezone(dt.timedelta(hours=-3)))


@given(st.datetimes(timezones=zones), st.sampled_from(["T", " "]))
def test_every_iso_moment_is_read_back(moment: dt.datetime, between: str) -> None:
    assert value_of(moment.isoformat(sep=between)) == moment


@given(st.text())
def test_any_text_means_something(text: str) -> None:
    value = value_of(text)
    assert value is None or isinstance(value, float | str | dt.datetime)
    assert not isinstance(value, float) or not math.isnan(value)


@pytest.mark.parametrize("word", sorted(MISSING))
def test_words_for_nothing_mean_nothing_in_any_case(word: str) -> None:
    for read in (value_of, text_of, value_with_comma):
        assert read(f" {word.upper()} ") is None


def test_names_keep_their_zeros() -> None:
    assert text_of("007") == "007"
    assert value_of("007") == 7.0


def test_a_pattern_reads_moments_that_are_not_iso() -> None:
    read = moment_reader("%d/%m/%y %H:%M")
    assert read("03/02/24 17:05") == dt.datetime(2024, 2, 3, 17, 5)
    assert read("NA") is None


def test_counts_since_1970_are_seconds_or_milliseconds() -> None:
    assert moment_of(86400.0) == dt.datetime(1970, 1, 2)
    assert moment_of(1.7e12) == moment_of(1.7e9)
    assert moment_of("noon") == "noon"
