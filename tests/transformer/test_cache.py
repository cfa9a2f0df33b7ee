"""The cache against a plain list of rows; and what an append does not do."""

from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from inctnp.seeding import generator
from inctnp.transformer.cache import LEAST_CAPACITY, SHORT, Cache, restore_cache
from inctnp.transformer.storage import storage_named

SLOTS, BATCH = 2, 2


def new_rows(count: int, seed: int, draws: int = 1) -> list[Tensor]:
    rng = generator(seed, "rows")
    return [torch.randn(2, BATCH, 1, draws, count, 3, dtype=torch.float64, generator=rng) for _ in range(SLOTS)]


@torch.no_grad()
def appended(cache: Cache, rows: list[Tensor]) -> Cache:
    append = cache.append(rows[0].shape[-2])
    for slot, part in enumerate(rows):
        append.write(slot, part)
    return append.done()


def contents(cache: Cache, slot: int) -> Tensor:
    return torch.cat([torch.zeros(2, BATCH, 1, 1, 0, 3), *cache.pieces(slot, torch.float64)], dim=-2)


@dataclass
class Owner:
    """A cache, and copies of what it must hold."""

    cache: Cache
    rows: list[Tensor]

    def check(self) -> None:
        assert len(self.cache) == self.rows[0].shape[-2]
        for slot, expected in enumerate(self.rows):
            assert torch.equal(contents(self.cache, slot), expected)


def nobody() -> Owner:
    return Owner(Cache(slots=SLOTS), [torch.zeros(2, BATCH, 1, 1, 0, 3, dtype=torch.float64)] * SLOTS)


program = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "append", "fork", "rollback", "reload", "branch"]),
        st.integers(0, 10**6),
        st.sampled_from([1, 1, 2, 5, 30, 64, 65, 129]),
    ),
    min_size=1,
    max_size=25,
)


@given(program)
@settings(max_examples=80)
def test_any_program_of_owners_sees_exactly_its_own_rows(steps: list[tuple[str, int, int]]) -> None:
    owners = [nobody()]
    for seed, (what, who, count) in enumerate(steps):
        owner = owners[who % len(owners)]
        match what:
            case "append":
                rows = new_rows(count, seed)
                owner.cache = appended(owner.cache, rows)
                owner.rows = [torch.cat([old, new], dim=-2) for old, new in zip(owner.rows, rows, strict=True)]
            case "fork":
                owners.append(Owner(owner.cache, owner.rows))
            case "rollback":
                to = who % (len(owner.cache) + 1)
                owner.cache, owner.rows = owner.cache.truncate(to), [rows[..., :to, :] for rows in owner.rows]
            case "reload":
                owner.cache = restore_cache(SLOTS, *owner.cache.state())
            case "branch":
                # A continuation that is looked at and dropped.
                appended(owner.cache.branch(3, 2), new_rows(1, seed, draws=3))
                appended(owner.cache.branch(1, 2), new_rows(2, seed))
        for other in owners:
            other.check()


def test_an_append_writes_in_place_while_the_capacity_lasts() -> None:
    cache = appended(nobody().cache, new_rows(3, 0))
    cache = appended(cache, new_rows(1, 1))
    before = [part.data_ptr() for part in cache.views[-1].block.slots[0]]
    while len(cache) < cache.views[-1].block.capacity:
        cache = appended(cache, new_rows(1, len(cache)))
        assert [part.data_ptr() for part in cache.views[-1].block.slots[0]] == before
    assert len(cache) >= LEAST_CAPACITY
    assert [part.data_ptr() for part in appended(cache, new_rows(1, 99)).views[-1].block.slots[0]] != before


def test_growing_copies_each_row_a_bounded_number_of_times() -> None:
    cache, moves, last = nobody().cache, 0, None
    for i in range(1000):
        cache = appended(cache, new_rows(1, i))
        if cache.views[-1].block is not last:
            moves, last = moves + 1, cache.views[-1].block
    assert moves <= 8 and len(cache.views) == 1
    assert last is not None and last.capacity <= 2 * 1024


def test_a_fork_of_a_long_past_copies_nothing_of_it() -> None:
    parent = appended(appended(nobody().cache, new_rows(10 * SHORT, 0)), new_rows(1, 1))
    child = appended(parent, new_rows(1, 2))
    sibling = appended(parent, new_rows(1, 3))
    assert sibling.views[0].block is parent.views[0].block is child.views[0].block
    assert sibling.views[-1].block is not child.views[-1].block
    assert sibling.views[-1].block.capacity == LEAST_CAPACITY


def test_parting_at_every_row_keeps_the_number_of_pieces_small() -> None:
    cache = appended(nobody().cache, new_rows(1000, 0))
    for i in range(600):
        appended(cache, new_rows(1, i))  # a what-if that takes the free place behind the last row
        cache = appended(cache, new_rows(1, i))
    assert len(cache.views) <= 8


def test_a_branch_leaves_the_buffers_of_the_past_alone_and_takes_only_the_room_it_asked_for() -> None:
    cache = appended(appended(nobody().cache, new_rows(70, 0)), new_rows(1, 1))
    filled = cache.views[-1].block.filled
    for draws in (1, 4):
        branch = cache.branch(draws, 5)
        for i in range(5):
            branch = appended(branch, new_rows(1, i, draws))
        assert cache.views[-1].block.filled == filled
        assert branch.views[0].block is cache.views[0].block
        assert branch.nbytes - cache.nbytes == SLOTS * 2 * BATCH * draws * 5 * 3 * 8


def test_rows_with_gradients_never_meet_a_shared_buffer() -> None:
    cache = appended(nobody().cache, new_rows(3, 0))
    weight = torch.ones((), dtype=torch.float64, requires_grad=True)
    append = cache.append(1)
    for slot, part in enumerate(new_rows(1, 1)):
        append.write(slot, part * weight)
    grown = append.done()
    assert not cache.pieces(0, torch.float64)[0].requires_grad
    contents(grown, 0).sum().backward()
    assert weight.grad is not None
    appended(grown, new_rows(1, 2))
    assert torch.isfinite(contents(grown, 0)).all()


def test_an_append_that_is_given_up_has_not_happened() -> None:
    cache = appended(appended(nobody().cache, new_rows(3, 0)), new_rows(1, 1))
    before = contents(cache, 0).clone()
    with torch.no_grad():
        cache.append(2).write(0, new_rows(2, 5)[0])
    after = appended(cache, new_rows(1, 6))
    assert torch.equal(contents(cache, 0), before)
    assert torch.equal(contents(after, 0), torch.cat([before, new_rows(1, 6)[0]], dim=-2))


@pytest.mark.parametrize("name", ["bfloat16", "int8"])
def test_narrow_caches_hold_fewer_bytes(name: str) -> None:
    sizes = {}
    for storage in ("exact", name):
        cache = Cache(slots=SLOTS, storage=storage_named(storage))
        sizes[storage] = appended(cache, [rows.float().repeat(1, 1, 1, 1, 1, 16) for rows in new_rows(64, 0)]).nbytes
    assert sizes[name] <= sizes["exact"] / (2 if name == "bfloat16" else 3.8)
