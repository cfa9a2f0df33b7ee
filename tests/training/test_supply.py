"""Which batch is learned from when, and by whom."""

import threading

import pytest

from inctnp.training.supply import Share, ahead, batches_of
from tests.training.conftest import tiny


@pytest.mark.parametrize(("world", "per_step"), [(1, 1), (2, 1), (1, 2), (3, 2)])
def test_every_batch_is_used_once_and_in_order(world: int, per_step: int) -> None:
    used = [
        number
        for step in range(4)
        for number in sorted(
            each
            for rank in range(world)
            for each in Share(rank=rank, world=world).batches(step * world * per_step, per_step)
        )
    ]
    assert used == list(range(4 * world * per_step))


def test_one_process_that_averages_sees_what_two_processes_see() -> None:
    alone = batches_of(tiny("batches_per_step=2"), 3, 6, Share())
    together = [batches_of(tiny(), 3, 6, Share(rank=rank, world=2))[0] for rank in range(2)]
    for ours, theirs in zip(alone, together, strict=True):
        assert ours.yt.equal(theirs.yt)


def test_batches_are_made_one_step_ahead_in_another_thread() -> None:
    made: list[tuple[int, bool]] = []

    def make(step: int) -> list[int]:
        made.append((step, threading.current_thread() is threading.main_thread()))
        return [step]

    with ahead(make, 2, 5) as supply:
        assert [each for (each,) in supply] == [2, 3, 4]
    assert made == [(2, False), (3, False), (4, False)]


def test_a_finished_run_makes_nothing() -> None:
    with ahead(lambda step: pytest.fail("asked for a batch"), 5, 5) as supply:
        assert list(supply) == []


def test_what_goes_wrong_in_the_thread_is_raised_here() -> None:
    def broken(step: int) -> list[int]:
        raise ValueError("no data")

    with pytest.raises(ValueError, match="no data"), ahead(broken, 0, 3) as supply:
        next(supply)
