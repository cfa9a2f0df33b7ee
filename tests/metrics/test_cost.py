import time
from dataclasses import replace

import pytest
import torch

from inctnp.metrics.cost import (
    CostSettings,
    Prepared,
    autoregressive_cost,
    measure_seconds,
    memory_cost,
    prepare,
    query_cost,
    training_flops,
    update_cost,
)
from inctnp.metrics.flops import count_flops
from inctnp.metrics.growth import cumulative, fitted_exponent, growth_exponent, polynomial_degree
from inctnp.metrics.live_memory import fused, plain
from inctnp.testing.toy import toy_model
from tests.metrics.conftest import toy_task

TINY = CostSettings(targets=6, draws=3, dim_x=2, dtype=torch.float64, repeats=1)
LENGTHS = (32, 64, 128, 256)
LONG = (256, 512, 1024)


@pytest.mark.parametrize(("name", "claimed"), [("inctnp", 1.0), ("inctnp-seq", 1.0), ("tnp-d", 2.0), ("cnp", 0.0)])
def test_an_update_costs_what_the_paper_says(name: str, claimed: float) -> None:
    """Table 4. Linear and constant exactly; the quadratic has a linear part that fades with the length."""
    curve = update_cost(toy_model(name), LENGTHS if claimed < 2 else LONG, TINY)
    assert growth_exponent(curve.points, curve.flops) == pytest.approx(claimed, abs=0.2 if claimed == 2 else 1e-3)


def test_the_work_of_an_update_is_the_one_counted_by_hand() -> None:
    """Each further point adds two dot products of the new row, in each layer and of every head: 4 · width · layers."""
    curve = update_cost(toy_model("inctnp"), (32, 64), replace(TINY, targets=1))
    width, layers = 16, 2
    # The single question asked afterwards grows alike, by one point more, and is taken off but for that point.
    assert curve.flops[1] - curve.flops[0] == 32 * 4 * width * layers
    assert (64 + 1) * 4 * width * layers < curve.flops[1]


def test_encoding_anew_is_a_parabola_with_the_attention_on_top() -> None:
    """Every row against every row, twice, in each layer: 4 · width · layers · N² and a linear rest."""
    f1, f2, f3 = update_cost(toy_model("tnp-d"), (32, 64, 96), TINY).flops
    assert f3 - 2 * f2 + f1 == 4 * 16 * 2 * 2 * 32**2


@pytest.mark.parametrize("name", ["inctnp", "tnp-d"])
def test_a_query_is_linear_in_what_was_seen(name: str) -> None:
    curve = query_cost(toy_model(name), LENGTHS, TINY)
    assert growth_exponent(curve.points, curve.flops) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(("name", "claimed"), [("inctnp", 1.0), ("tnp-d", 2.0)])
def test_autoregression_is_linear_or_quadratic_as_claimed(name: str, claimed: float) -> None:
    curve = autoregressive_cost(toy_model(name), LENGTHS if claimed < 2 else LONG, replace(TINY, targets=3, draws=2))
    assert growth_exponent(curve.points, curve.flops) == pytest.approx(claimed, abs=0.2 if claimed == 2 else 1e-2)


def test_cumulative_costs_are_one_degree_higher() -> None:
    """Table 5, on the part of an update that grows: projections, linear, still weigh at these lengths."""
    for name, claimed, slack in (("inctnp", 2.0, 0.1), ("tnp-d", 3.0, 0.4)):
        curve = update_cost(toy_model(name), (1, 32, 64, 128, 256, 512, 1024), TINY)
        growing = [flops - curve.flops[0] for flops in curve.flops]
        totals = cumulative(curve.points, growing)
        assert fitted_exponent(curve.points[4:], totals[4:]) == pytest.approx(claimed, abs=slack)


@pytest.mark.parametrize(("name", "degree"), [("cnp", 0), ("inctnp", 1), ("lbanp", 1), ("tnp-d", 2), ("tnp-a", 2)])
def test_the_degree_of_an_update_is_exact(name: str, degree: int) -> None:
    """Table 4, with nothing to fade: the counted work *is* a polynomial."""
    curve = update_cost(toy_model(name), (20, 30, 50, 90), TINY)
    assert polynomial_degree(curve.points, curve.flops) == degree


@pytest.mark.parametrize(("name", "degree"), [("inctnp", 1), ("tnp-d", 2)])
def test_the_degree_of_autoregression_is_exact(name: str, degree: int) -> None:
    curve = autoregressive_cost(toy_model(name), (20, 30, 50, 90), replace(TINY, targets=3, draws=2))
    assert polynomial_degree(curve.points, curve.flops) == degree


def test_the_cache_is_the_persistent_memory_and_grows_linearly() -> None:
    model = toy_model("inctnp")
    rows = memory_cost(model, LENGTHS, TINY)
    for row in rows:
        # A stream leaves buffers at most half empty.
        assert 1 <= row.context / (row.points * model.bytes_per_point()) <= 2
        assert row.weights == sum(p.numel() * 8 for p in model.parameters())
        assert row.total == row.persistent + row.transient
    assert fitted_exponent(LENGTHS, [row.context for row in rows]) == pytest.approx(1.0, abs=0.1)


def test_an_encoder_that_starts_over_holds_more_for_a_moment_and_squares_with_plain_attention() -> None:
    ours, theirs = (memory_cost(toy_model(name, layers=1), LENGTHS, TINY, plain) for name in ("inctnp", "tnp-d"))
    assert growth_exponent(LENGTHS, [row.transient for row in theirs]) > 1.8
    assert fitted_exponent(LENGTHS, [row.transient for row in ours]) < 1.1
    assert theirs[-1].transient > 5 * ours[-1].transient


def test_fused_attention_holds_no_scores() -> None:
    model = toy_model("tnp-d", layers=1)
    small, large = (memory_cost(model, (600,), TINY, attention)[0].transient for attention in (fused, plain))
    scores = 2 * 601 * 601 * 8
    # The mask that the fused kernel is given counts too, so only most of the scores are saved.
    assert large - small > 0.5 * scores


def test_a_draw_costs_memory_and_a_question_is_a_choice() -> None:
    model = toy_model("inctnp")
    few, many = (
        memory_cost(model, (8,), replace(TINY, draws=d), question=lambda ready: ready.autoregressive)[0].transient
        for d in (10, 100)
    )
    assert 8 * few < many < 12 * few


def test_training_counts_both_passes() -> None:
    model = toy_model("tnp-d")
    task = toy_task(model, 8, 4)
    with torch.no_grad():
        forward = count_flops(lambda: model.objective(task))
    assert 2.5 * forward < training_flops(model.objective, task) < 3.5 * forward


def test_preparing_asks_once_so_that_an_encoding_is_not_counted_as_a_question() -> None:
    model = toy_model("tnp-d")
    ready: Prepared = prepare(model, 64, TINY)
    with torch.no_grad():
        again = count_flops(ready.ask_one)
        first = count_flops(lambda: model.query(model.extend(model.empty(), *_points(model)), ready.xt[:1]))
    assert first > 20 * again


def _points(model: torch.nn.Module) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.zeros(64, 2).double(), torch.zeros(64, 1).double()


def test_seconds_are_those_of_the_processor_and_not_of_those_who_share_it() -> None:
    def compute() -> None:
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass

    assert 0.02 <= measure_seconds(compute, repeats=3) < 0.05
    assert measure_seconds(lambda: time.sleep(0.02), repeats=3) < 0.01


def test_with_threads_seconds_are_those_of_the_clock_on_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert measure_seconds(lambda: time.sleep(0.02), repeats=3) >= 0.02
