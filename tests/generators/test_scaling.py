import json
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from inctnp.errors import ConfigError, ShapeError, StateError
from inctnp.generators.scaling import MaxAbs, MinMax, Robust, Scaling, Standard, from_state

MAKERS: list[Callable[[int], Scaling]] = [
    lambda dim: Standard.empty(dim),
    lambda dim: Standard.empty(dim, clip=1.5),
    lambda dim: MinMax.empty(dim),
    lambda dim: MinMax.empty(dim, to=(-1.0, 1.0)),
    lambda dim: MaxAbs.empty(dim),
    lambda dim: Robust.empty(dim),
    lambda dim: Robust.empty(dim, capacity=8),
]


def table(rows: int, seed: int) -> Tensor:
    """Columns of very different scale, one constant, one with holes."""
    x = torch.randn(rows, 5, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    x = x * torch.tensor([1.0, 1e-6, 1e6, 0.0, 1.0]) + torch.tensor([0.0, 1.0, -1e6, 0.1, 0.0])
    x[::3, 4] = torch.nan
    return x


@settings(max_examples=30, deadline=None)
@given(cuts=st.lists(st.integers(0, 7), min_size=1, max_size=8), seed=st.integers(0, 2**31), which=st.integers(0, 6))
def test_how_the_rows_arrived_does_not_matter(cuts: list[int], seed: int, which: int) -> None:
    rows = table(sum(cuts), seed)
    in_bulk = MAKERS[which](5).update(rows)
    in_pieces = row_by_row = MAKERS[which](5)
    for piece in rows.split(cuts):
        in_pieces = in_pieces.update(piece)
    for row in rows:
        row_by_row = row_by_row.update(row)
    probe = table(4, seed + 1)
    for other in (in_pieces, row_by_row):
        assert_close(other.center, in_bulk.center, rtol=1e-9, atol=1e-12)
        assert_close(other.spread, in_bulk.spread, rtol=1e-6, atol=1e-12)
        assert_close(other.apply(probe), in_bulk.apply(probe), rtol=1e-6, atol=1e-6, equal_nan=True)


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(1, 40), cut=st.integers(0, 40), seed=st.integers(0, 2**31))
def test_merged_moments_are_those_of_numpy(rows: int, cut: int, seed: int) -> None:
    x = table(rows + 1, seed)  # at least one value in the column with holes
    merged = Standard.of(x[:cut]).merge(Standard.of(x[cut:]))
    assert_close(merged.mean.numpy(), np.nanmean(x.numpy(), axis=0), rtol=1e-12, atol=1e-12)
    assert_close(merged.spread.numpy(), np.nanstd(x.numpy(), axis=0), rtol=1e-6, atol=1e-12)
    assert merged.count.tolist() == (~x.isnan()).sum(dim=0).tolist()


def test_moments_survive_a_large_offset() -> None:
    x = 1e9 + torch.arange(1000, dtype=torch.float64).unsqueeze(-1)
    one_by_one = Standard.empty(1)
    for row in x:
        one_by_one = one_by_one.update(row)
    assert_close(one_by_one.spread, torch.tensor([np.std(np.arange(1000))]), rtol=1e-9, atol=0)


def test_quartiles_are_those_of_numpy_while_every_row_is_kept() -> None:
    x = table(51, 0)
    robust = Robust.of(x)
    q1, q2, q3 = np.nanquantile(x.numpy(), [0.25, 0.5, 0.75], axis=0)
    assert_close(robust.center.numpy(), q2)
    assert_close(robust.spread.numpy(), q3 - q1, rtol=1e-9, atol=1e-15)


def test_a_robust_scaling_stays_within_its_capacity_and_keeps_the_whole_span() -> None:
    robust = Robust.of(torch.arange(1000.0).unsqueeze(-1), capacity=100)
    assert robust.kept.squeeze(-1).tolist() == list(range(0, 1000, 16))
    assert_close(robust.center, torch.tensor([500.0], dtype=torch.float64), atol=16, rtol=0)


@pytest.mark.parametrize("make", MAKERS)
def test_a_constant_or_unseen_column_becomes_zero_and_comes_back(make: Callable[[int], Scaling]) -> None:
    nothing = make(2)
    x = torch.tensor([[3.3, 0.1], [3.3, 0.1], [3.3, 0.1]])
    assert nothing.apply(x).tolist() == torch.zeros(3, 2).tolist()
    assert nothing.invert(x).tolist() == x.tolist()
    constant = nothing.update(x)
    scaled = constant.apply(x)
    if not isinstance(constant, MaxAbs):
        assert scaled.tolist() == torch.zeros(3, 2).tolist()
    assert_close(constant.invert(scaled), x)


@pytest.mark.parametrize("make", [each for each in MAKERS if each(1).clip is None])
def test_invert_undoes_apply(make: Callable[[int], Scaling]) -> None:
    x = table(30, 3)
    scaling = make(5).update(x)
    assert_close(scaling.invert(scaling.apply(x)), x, equal_nan=True, rtol=1e-9, atol=1e-12)


def test_the_ranges_are_as_promised() -> None:
    x = torch.randn(200, 3)
    assert_close(MinMax.of(x).apply(x).aminmax(dim=0), (torch.zeros(3), torch.ones(3)))
    assert_close(MinMax.of(x, to=(-1.0, 1.0)).apply(x).aminmax(dim=0), (-torch.ones(3), torch.ones(3)))
    assert_close(MaxAbs.of(x).apply(x).abs().amax(dim=0), torch.ones(3))
    standard = Standard.of(x, clip=0.5).apply(x)
    assert standard.abs().max() == 0.5 and standard.dtype == torch.float32


@pytest.mark.parametrize("make", MAKERS)
def test_missing_and_infinite_values_stay_out_of_the_statistics(make: Callable[[int], Scaling]) -> None:
    x = torch.tensor([[1.0], [2.0], [4.0]])
    holes = torch.tensor([[1.0], [torch.nan], [2.0], [torch.inf], [4.0]])
    clean, holed = make(1).update(x), make(1)
    for row in holes:
        holed = holed.update(row)
    assert_close(clean.center, holed.center)
    assert_close(clean.spread, holed.spread)
    assert holed.apply(torch.tensor([[torch.nan]])).isnan().all()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("rows", [0, 1, 20])
def test_a_state_survives_json_exactly(make: Callable[[int], Scaling], rows: int) -> None:
    scaling = make(5).update(table(rows, 5))
    text = json.dumps(scaling.state(), allow_nan=False)
    again = from_state(json.loads(text))
    assert again.state() == scaling.state()
    probe, more = table(3, 6), table(11, 7)
    assert_close(again.update(more).apply(probe), scaling.update(more).apply(probe), rtol=0, atol=0, equal_nan=True)


def test_later_rows_change_nothing_that_was_already_scaled() -> None:
    x = table(20, 8)
    other = x.clone()
    other[12:] *= -7
    histories = []
    for rows in (x, other):
        statistics, scaled = Standard.empty(5), []
        for row in rows:
            scaled.append(statistics.apply(row))
            statistics = statistics.update(row)
        histories.append(torch.stack(scaled))
    assert_close(histories[0][:12], histories[1][:12], rtol=0, atol=0, equal_nan=True)
    assert not torch.equal(histories[0][13:, :3], histories[1][13:, :3])


@settings(max_examples=30, deadline=None)
@given(before=st.integers(0, 6), rows=st.integers(0, 12), seed=st.integers(0, 2**31))
def test_a_sweep_is_update_then_apply_row_by_row(before: int, rows: int, seed: int) -> None:
    x = table(before + rows, seed)
    start = statistics = Standard.of(x[:before], clip=2.0)
    swept = start.sweep(x[before:])
    for row, scaled in zip(x[before:], swept, strict=True):
        statistics = statistics.update(row)
        assert_close(scaled, statistics.apply(row), rtol=1e-6, atol=1e-6, equal_nan=True)


def test_updating_leaves_the_old_statistics_alone() -> None:
    before = Standard.of(table(10, 9))
    state = before.state()
    before.update(table(10, 10))
    assert before.state() == state


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ShapeError, match="5 columns"):
        Standard.empty(5).update(torch.zeros(3, 4))
    with pytest.raises(StateError, match="unknown"):
        from_state({"kind": "median"})
    damaged = Standard.empty(2).state()
    with pytest.raises(StateError, match="damaged"):
        from_state({**damaged, "mean": [0.0]})
    with pytest.raises(StateError, match="holds"):
        from_state({name: value for name, value in damaged.items() if name != "mean"})
    for bad in (lambda: Standard.empty(0), lambda: MinMax.empty(1, to=(1.0, 2.0)), lambda: Robust.empty(1, capacity=1)):
        with pytest.raises(ConfigError):
            bad()
