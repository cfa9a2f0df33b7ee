"""Bounded memories: which rows are held, and that predictions are those of a model given exactly these."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import inctnp
from inctnp.errors import RollbackError
from inctnp.seeding import generator
from inctnp.streaming.recompute import query_from_scratch
from inctnp.testing.checks import assert_same
from inctnp.testing.toy import toy_model, toy_points

MODEL = toy_model("inctnp-prior")
X, Y = toy_points(MODEL, 300)
XT, _ = toy_points(MODEL, 2, seed=1)


def window_rows(seen: int, held: int, anchor: int) -> list[int]:
    first = min(anchor, seen)
    return [*range(first), *range(seen - (held - first), seen)]


@pytest.mark.parametrize(("most", "anchor"), [(9, 0), (11, 4), (4, 0)])
def test_a_window_predicts_from_exactly_the_newest_rows_and_its_anchor(most: int, anchor: int) -> None:
    stream = MODEL.stream(policy="window", max_points=most, anchor=anchor)
    for i in range(3 * most):
        stream.observe(X[i], Y[i])
        assert stream.held <= most
        assert stream.held >= min(i + 1, anchor + (most - anchor) // 2)
        rows = window_rows(i + 1, stream.held, anchor)
        assert_same(stream.predict(XT), query_from_scratch(MODEL, X[rows], Y[rows], XT), f"after row {i}")


@given(st.lists(st.integers(1, 17), min_size=1, max_size=5), st.sampled_from([(8, 0), (12, 3), (20, 16)]))
@settings(max_examples=6)
def test_a_window_holds_the_same_rows_however_they_came(chunks: list[int], sizes: tuple[int, int]) -> None:
    limits = {"policy": "window", "max_points": sizes[0], "anchor": sizes[1]}
    in_chunks, one_by_one, start = MODEL.stream(**limits), MODEL.stream(**limits), 0
    for chunk in chunks:
        in_chunks.observe(X[start : start + chunk], Y[start : start + chunk])
        for i in range(start, start + chunk):
            one_by_one.observe(X[i], Y[i])
        start += chunk
    assert in_chunks.held == one_by_one.held
    assert_same(in_chunks.predict(XT), one_by_one.predict(XT), f"chunks {chunks}")


@pytest.mark.parametrize("keep_rows", [False, True])
@pytest.mark.parametrize(("most", "anchor"), [(8, 0), (11, 4)])
def test_a_window_rolled_back_is_one_that_never_saw_the_rows_or_says_why_not(
    most: int, anchor: int, keep_rows: bool
) -> None:
    """Told by the rows that are held, then and later, in a model that shows them."""
    model = toy_model("tnp-d")
    limits = {"policy": "window", "max_points": most, "anchor": anchor}
    refused: set[tuple[int, int]] = set()
    backs = {1, 2, 3, most // 2, most - 1, most, 2 * most}
    for seen in range(1, 2 * most + 3):
        for to in sorted({max(0, seen - back) for back in backs}):
            stream, never = model.stream(**limits, keep_rows=keep_rows), model.stream(**limits)
            stream.observe(X[:seen], Y[:seen])
            never.observe(X[:to], Y[:to])
            before = stream._memory
            try:
                stream.rollback(to)
            except RollbackError as error:
                assert "keep_rows=True" in str(error) and stream._memory is before
                refused.add((seen, to))
                continue
            for i in (0, 1, 2, most // 2, most):
                assert len(stream) == len(never)
                assert torch.equal(stream._memory.context.x, never._memory.context.x), (seen, to)
                for other in (stream, never):
                    other.observe(X[100 : 100 + i], Y[100 : 100 + i])
    if keep_rows:
        assert refused == set()
        return
    # Refused only where rows held then were let go since; the newest row is undone except where it made the change.
    assert refused and all(seen > most for seen, _ in refused)
    changes = sorted(seen for seen, to in refused if to == seen - 1)
    assert all(
        later - earlier in ((most - anchor) // 2, (most - anchor + 1) // 2) for earlier, later in pairwise(changes)
    )


def test_a_window_of_keys_and_values_goes_back_too() -> None:
    for seen, to in ((7, 3), (20, 19), (20, 17)):
        stream, never = (MODEL.stream(policy="window", max_points=11, anchor=4, keep_rows=True) for _ in range(2))
        stream.observe(X[:seen], Y[:seen])
        never.observe(X[:to], Y[:to])
        stream.rollback(to)
        for i in range(100, 112):
            assert_same(stream.predict(XT), never.predict(XT), f"{seen} rows back to {to}")
            for other in (stream, never):
                other.observe(X[i], Y[i])


def test_forks_of_a_window_go_their_own_ways() -> None:
    trunk = MODEL.stream(policy="window", max_points=12, anchor=2)
    trunk.observe(X[:20], Y[:20])
    branches = [trunk.fork(), trunk.fork()]
    for i in range(20):
        for number, branch in enumerate(branches):
            branch.observe(X[50 + 20 * number + i], Y[i])
    for number, branch in enumerate(branches):
        x = torch.cat([X[:20], X[50 + 20 * number : 70 + 20 * number]])
        rows = window_rows(40, branch.held, 2)
        y = torch.cat([Y[:20], Y[:20]])
        assert_same(branch.predict(XT), query_from_scratch(MODEL, x[rows], y[rows], XT), f"branch {number}")


def held_by_reservoir(rows: int, **limits: Any) -> tuple[inctnp.Stream, Tensor, Tensor]:
    """A stream of points numbered by their first output, in a model that shows which it holds."""
    stream = toy_model("tnp-d").stream(policy="reservoir", **limits)
    stream.observe(X[:rows], torch.arange(rows).double()[:, None])
    context = stream._memory.context
    return stream, context.x, context.y[:, 0].long()


@pytest.mark.parametrize("most", [4, 10])
def test_a_reservoir_predicts_from_exactly_the_rows_it_holds(most: int) -> None:
    stream = MODEL.stream(policy="reservoir", max_points=most, seed=3)
    for i in range(60):
        stream.observe(X[i], Y[i])
        if i % 3 == 0:
            held = held_by_reservoir(i + 1, max_points=most, seed=3)[2]
            assert len(held) == stream.held <= most
            assert stream.held >= min(i + 1, most // 2)
            assert len(set(held.tolist())) == len(held)
            assert_same(stream.predict(XT), query_from_scratch(MODEL, X[held], Y[held], XT), f"after row {i}")


@pytest.mark.parametrize("most", [8, 20])
def test_the_sample_is_always_among_the_rows_held(most: int) -> None:
    for rows in range(1, 90, 4):
        stream, _, held = held_by_reservoir(rows, max_points=most)
        assert set(stream._memory.y[:, 0].long().tolist()) <= set(held.tolist())


def test_every_row_has_the_same_chance_to_be_in_the_sample() -> None:
    rows, size, seeds = 20, 4, 150
    counts, model = np.zeros(rows), toy_model("cnp")
    for seed in range(seeds):
        stream = model.stream(policy="reservoir", max_points=2 * size, seed=seed)
        stream.observe(X[:rows], torch.arange(rows).double()[:, None])
        counts[stream._memory.y[:, 0].long().numpy()] += 1
    assert counts.sum() == seeds * size
    expected = seeds * size / rows
    # A sum of 20 squared deviations, each about one: 48 is beyond the 0.999 quantile.
    assert ((counts - expected) ** 2 / (expected * (1 - size / rows))).sum() < 48


def test_membership_depends_on_the_seed_and_the_row_number_alone() -> None:
    at_once = held_by_reservoir(100, max_points=16, seed=1)[2]
    again = held_by_reservoir(100, max_points=16, seed=1)[2]
    other = held_by_reservoir(100, max_points=16, seed=2)[2]
    assert torch.equal(at_once, again) and set(at_once.tolist()) != set(other.tolist())
    kept: list[int] = list(range(8))
    for t in range(8, 100):  # the textbook algorithm
        slot = int(torch.randint(t + 1, (), generator=generator(1, t)))
        if slot < 8:
            kept[slot] = t
    assert set(kept) <= set(at_once.tolist())


def test_a_reservoir_goes_back_while_nothing_was_let_go() -> None:
    stream = MODEL.stream(policy="reservoir", max_points=16)
    stream.observe(X[:8], Y[:8])
    stream.rollback(3)
    assert_same(stream.predict(XT), query_from_scratch(MODEL, X[:3], Y[:3], XT), "three rows")
    stream.observe(X[3:20], Y[3:20])
    with pytest.raises(RollbackError, match="reservoir cannot go back from row 20 to 10"):
        stream.rollback(10)
    kept = MODEL.stream(policy="reservoir", max_points=16, keep_rows=True)
    kept.observe(X[:20], Y[:20])
    kept.rollback(10)
    never = MODEL.stream(policy="reservoir", max_points=16)
    never.observe(X[:10], Y[:10])
    assert_same(kept.predict(XT), never.predict(XT), "rolled back by replay")


@pytest.mark.parametrize("name", ["inctnp-prior", "tnp-d"])
@pytest.mark.parametrize("policy", ["window", "reservoir"])
def test_a_bound_in_bytes_is_kept(policy: str, name: str) -> None:
    model = toy_model(name)
    bound = 4 * 128 * model.bytes_per_point() + 20_000
    stream = model.stream(policy=policy, max_bytes=bound)
    for i in range(0, 300, 5):
        stream.observe(X[i : i + 5], Y[i : i + 5])
        assert stream.nbytes <= bound
    assert stream.held >= 40


@pytest.mark.parametrize("storage", ["exact", "bfloat16", "int8"])
def test_the_size_calculator_knows_the_bytes_of_a_point(storage: str) -> None:
    stream = MODEL.stream(storage=storage)
    stream.observe(X[:64], Y[:64])
    stream.observe(X[64], Y[64])
    block = stream._memory.context.cache.views[-1].block
    assert block.nbytes == block.capacity * MODEL.bytes_per_point(storage)


@torch.no_grad()
def test_no_row_of_a_window_waits_for_a_re_encoding() -> None:
    """Counted: the dearest row of the steady state costs at most a few times the cheapest, not a whole re-encoding."""
    from torch.utils.flop_counter import FlopCounterMode

    for policy, most in (("window", 64), ("reservoir", 64)):
        stream = MODEL.stream(policy=policy, max_points=most)
        stream.observe(X[:100], Y[:100])
        costs = []
        for i in range(100, 150):
            with FlopCounterMode(display=False) as counter:
                stream.observe(X[i], Y[i])
            costs.append(counter.get_total_flops())
        fresh = MODEL.stream()
        with FlopCounterMode(display=False) as counter:
            fresh.observe(X[: most // 2], Y[: most // 2])
        assert max(costs) < counter.get_total_flops() / 3
