"""A compiled row answers and stores what the model would have, at any length, in every storage and for every head."""

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor

from inctnp.fused.addresses import is_one_stream
from inctnp.fused.process import FusedProcess
from inctnp.models.inc_tnp import CachedContext, IncTNP
from inctnp.predictive.base import Predictive
from inctnp.testing.toy import toy_points
from inctnp.transformer.storage import STORAGES
from tests.fused.conftest import narrow

ERROR = 1e-5
STEPS = {"exact": 0.0, "bfloat16": 2.0**-8, "int8": 1.0 / 127}
"""Rounding of what is stored, relative to the largest number of a row; half a step, doubled where two round apart."""
LENGTHS = (0, 1, 17, 300, 5000)


def assert_near(got: Predictive, wanted: Predictive) -> None:
    assert type(got) is type(wanted)
    for mine, theirs in zip(got.components(), wanted.components(), strict=True):
        # Relative to the largest answer, for toy models say up to 80, and rounding inside the network is shared by all.
        torch.testing.assert_close(mine, theirs.float(), rtol=0, atol=ERROR * (1 + theirs.abs().max().item()))


def newest(model: IncTNP, context: CachedContext) -> Tensor:
    """Keys and values of the last row, as they are read: [slot, 2, head, depth]."""
    cache = context.cache
    rows = [cache.pieces(slot, torch.float32)[-1][..., -1, :] for slot in range(model.stack.slots)]
    return torch.stack(rows).reshape(model.stack.slots, 2, model.config.heads, -1)


def assert_stored_alike(model: IncTNP, got: CachedContext, wanted: CachedContext) -> None:
    mine, theirs = newest(model, got), newest(model, wanted)
    allowed = ERROR * (1 + theirs.abs()) + STEPS[got.cache.storage.name] * theirs.abs().amax(dim=-1, keepdim=True)
    assert ((mine - theirs).abs() <= allowed).all()


@pytest.fixture(params=STORAGES)
def storage(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize("points", LENGTHS)
def test_a_row_is_asked_and_learned_as_by_the_model(model: IncTNP, storage: str, points: int) -> None:
    x, y = toy_points(model, points + 1)
    before = model.extend(model.empty(storage=storage), x[:-1], y[:-1])
    fused, row, outcome = FusedProcess(model), x[-1:], y[-1:]
    assert_near(fused.query(before, row), model.query(before, row))
    # The second to learn starts a block of its own, so both are written to a cache nobody else has.
    again = model.extend(model.empty(storage=storage), x[:-1], y[:-1])
    wanted = model.extend(again, row, outcome)
    answer, learned = fused.query_then_extend(before, row, outcome)
    assert_near(answer, model.query(before, row))
    assert len(learned) == len(wanted) == points + 1
    assert_stored_alike(model, learned, wanted)
    again = model.extend(model.empty(storage=storage), x[:-1], y[:-1])
    assert_stored_alike(model, fused.extend(again, row, outcome), wanted)


@pytest.mark.parametrize("points", LENGTHS)
def test_compiled_rows_are_as_exact_as_float32_allows(model: IncTNP, points: int) -> None:
    """Against the same network in float64; torch's own products are up to ten times as far from it."""
    x, y = toy_points(model, points + 1)
    context = model.extend(model.empty(), x[:-1], y[:-1])
    double = deepcopy(model).double()
    exact = double.extend(double.empty(), x[:-1].double(), y[:-1].double())
    assert_near(FusedProcess(model).query(context, x[-1:]), double.query(exact, x[-1:].double()))


def test_compiled_code_does_what_it_is_there_for(model: IncTNP, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the comparisons above are not of the model with itself."""
    x, y = toy_points(model, 40)
    context = model.extend(model.empty(), x[:39], y[:39])
    for name in ("extend", "query", "query_then_extend"):
        monkeypatch.setattr(IncTNP, name, lambda *_: pytest.fail("left to the model"))
    fused = FusedProcess(model)
    _, context = fused.query_then_extend(fused.extend(context, x[39:], y[39:]), x[:1], y[:1])
    fused.query(context, x[:1])


def test_a_context_in_many_pieces_is_read_whole(storage: str) -> None:
    model = narrow()
    x, y = toy_points(model, 1100)
    context = model.extend(model.empty(storage=storage), x[:600], y[:600])
    for start, end in ((600, 850), (850, 1000)):
        context = model.extend(context, x[start : start + 1], y[start : start + 1])
        model.extend(context, x[:1], y[:1])  # somebody else goes on from here, so what follows is a block of its own
        context = model.extend(context, x[start + 1 : end], y[start + 1 : end])
    assert len(context.cache.views) == 3
    fused = FusedProcess(model)
    for i in range(1000, 1100):
        wanted = model.query(context, x[i : i + 1])
        answer, context = fused.query_then_extend(context, x[i : i + 1], y[i : i + 1])
        assert_near(answer, wanted)


def test_threads_change_nothing_but_the_order_of_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    from inctnp.fused import compiled

    model = narrow()
    x, y = toy_points(model, 301)
    monkeypatch.setattr(compiled, "_parts", lambda points, heads: 3)
    for storage in STORAGES:
        context = model.extend(model.empty(storage=storage), x[:300], y[:300])
        assert_near(FusedProcess(model).query(context, x[300:]), model.query(context, x[300:]))


def test_loading_compiled_code_leaves_the_threads_of_torch_alone() -> None:
    model = narrow()
    x, y = toy_points(model, 2)
    FusedProcess(model).query(model.extend(model.empty(), x, y), x[:1])
    assert torch.get_num_threads() == 1


def test_threads_are_for_long_contexts_and_processes_that_were_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    from inctnp.fused import compiled

    monkeypatch.setattr(torch, "get_num_threads", lambda: 16)
    assert [compiled._parts(points, 8) for points in (compiled.THREADS_FROM - 1, compiled.THREADS_FROM)] == [0, 2]
    monkeypatch.setattr(compiled, "_home", -1)
    assert compiled._parts(10**6, 8) == 0


def test_what_compiled_code_is_not_for_is_left_to_the_model() -> None:
    model = narrow()
    fused = FusedProcess(model)
    x, y = toy_points(model, 6)
    context = model.extend(model.empty(), x, y)
    assert fused.query(context, x).mean.shape == (6, 1)
    assert len(fused.extend(context, x, y)) == 12
    both = model.extend(model.empty(2), *toy_points(model, 3, batch=(2,)))
    assert fused.query_then_extend(both, *toy_points(model, 1, batch=(2,)))[0].mean.shape == (2, 1, 1)
    with torch.enable_grad():
        row = x[:1].clone().requires_grad_()
        assert fused.query(context, row).mean.requires_grad
    with torch.autocast("cpu", torch.bfloat16):
        low = model.extend(model.empty(), x, y)
    assert not is_one_stream(low.cache)  # its rows have another type than its storage says


def test_an_empty_context_is_refused_as_by_the_model() -> None:
    from inctnp.errors import EmptyContextError

    model = narrow("inctnp")
    x, y = toy_points(model, 1)
    with pytest.raises(EmptyContextError, match="at least one point"):
        FusedProcess(model).query_then_extend(model.empty(), x, y)


def test_training_on_reaches_the_compiled_rows() -> None:
    model = narrow()
    x, y = toy_points(model, 6)
    fused = FusedProcess(model)
    before = fused.query(model.extend(model.empty(), x, y), x[:1]).mean
    for parameter in model.parameters():
        parameter.mul_(1.1)
    context = model.extend(model.empty(), x, y)
    assert_near(fused.query(context, x[:1]), model.query(context, x[:1]))
    assert (fused.query(context, x[:1]).mean - before).abs() > 1e-4


def test_rows_of_zeros_and_huge_rows_are_stored_as_by_the_model() -> None:
    """The scale of int8 rows ends at the range of float16 on either side."""
    for factor in (0.0, 1e-9, 1e6):
        model = narrow()
        for block in (*model.stack.cross_blocks, *model.stack.self_blocks):
            block.project.weight[model.config.width :].mul_(factor)
        x, y = toy_points(model, 3)
        for storage in STORAGES:
            context = model.extend(model.empty(storage=storage), x[:1], y[:1])
            wanted = model.extend(model.extend(model.empty(storage=storage), x[:1], y[:1]), x[1:2], y[1:2])
            assert_stored_alike(model, FusedProcess(model).extend(context, x[1:2], y[1:2]), wanted)
