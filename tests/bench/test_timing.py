"""Timings are of the work, whatever else the machine does, and memory is what the work took."""

import time

import torch

from inctnp.bench.timing import Timing, interleaved, machine, summary


def test_timings_are_of_the_work_and_memory_is_what_it_took() -> None:
    made = interleaved({"much": lambda: torch.ones(50_000_000, dtype=torch.uint8), "nothing": lambda: None}, 3)
    assert made["much"].median > made["nothing"].median
    if made["much"].peak is not None:
        assert 45e6 < made["much"].peak < 80e6 and made["nothing"].peak < 5e6
    assert Timing(1.0, 0.5, 2.0, 7).times(3) == Timing(3.0, 1.5, 6.0, 7)


def test_waiting_is_not_counted_on_one_thread() -> None:
    assert interleaved({"asleep": lambda: time.sleep(0.05)}, 2)["asleep"].median < 0.02
    assert interleaved({"asleep": lambda: time.sleep(0.02)}, 2, clock=time.perf_counter)["asleep"].median >= 0.02
    assert machine()["clock"] == "processor time"


def test_who_has_used_up_the_budget_drops_out_after_two_samples() -> None:
    runs = {"long": 0, "short": 0}

    def count(name: str, seconds: float) -> None:
        runs[name] += 1
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

    interleaved({name: lambda n=name, s=s: count(n, s) for name, s in (("long", 0.05), ("short", 0.021))}, 4, 0.1)
    assert runs == {"long": 4, "short": 5}  # a warm-up and a run to tell how long it takes come first


def test_quartiles_stand_on_either_side_of_the_median() -> None:
    assert summary([5.0, 1.0, 3.0, 2.0, 4.0]) == Timing(3.0, 2.0, 4.0)
