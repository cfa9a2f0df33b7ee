"""Averages along a stream of any length."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inctnp.report.averages import MOST, Averages


@given(st.lists(st.floats(-1e3, 1e3) | st.just(math.nan), min_size=1, max_size=3 * MOST), st.integers(1, 60))
def test_stretches_and_totals_are_means_of_the_rows_they_name(values: list[float], most: int) -> None:
    averages = Averages(1)
    for value in values:
        averages.add([value])
    ends, means = averages.stretches(most)
    assert len(ends) <= most
    assert ends[-1] == len(values)
    starts = [0, *ends[:-1].tolist()]
    for first, last, mean in zip(starts, ends.tolist(), means[:, 0].tolist(), strict=True):
        known = [value for value in values[first:last] if not math.isnan(value)]
        assert math.isclose(mean, sum(known) / len(known), abs_tol=1e-6) if known else math.isnan(mean)
    known = [value for value in values if not math.isnan(value)]
    total = averages.so_far()[1][-1, 0]
    assert math.isclose(total, sum(known) / len(known), abs_tol=1e-6) if known else math.isnan(total)


def test_a_long_stream_takes_no_more_room() -> None:
    averages = Averages(2)
    size = averages._sums.nbytes
    for row in range(10_000):
        averages.add([row, math.nan])
    assert averages._sums.nbytes == size
    assert averages.so_far()[0][-1] == 10_000
    assert np.isclose(averages.so_far()[1][-1, 0], 4999.5)
