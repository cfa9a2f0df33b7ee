"""Counted work is what a counter of operations sees and what a cache says it holds."""

import pytest
import torch

from inctnp.bench import cost_model
from inctnp.bench.cost_model import Cost
from inctnp.metrics.flops import count_flops
from inctnp.models.inc_tnp import IncTNP
from inctnp.testing.toy import toy_model, toy_points


@pytest.fixture(
    params=[{}, {"components": 3, "dim_y": 2, "layers": 3, "feedforward": 24}], ids=["plain", "other sizes"]
)
def model(request: pytest.FixtureRequest) -> IncTNP:
    made = toy_model("inctnp", **request.param)
    assert isinstance(made, IncTNP)
    return made


@pytest.mark.parametrize("rows", [1, 7, 40])
@torch.no_grad()
def test_multiplications_are_those_that_run(model: IncTNP, rows: int) -> None:
    x, y = toy_points(model, rows)
    context = model.extend(model.empty(), x, y)
    assert count_flops(lambda: model.extend(context, x[:1], y[:1])) == cost_model.learn(model, rows).flops
    assert count_flops(lambda: model.query(context, x[:1])) == cost_model.ask(model, rows).flops
    assert count_flops(lambda: model.query(context, x[:5])) == 5 * cost_model.ask(model, rows).flops or rows < 5


@torch.no_grad()
def test_bytes_are_the_two_halves_of_the_cache(model: IncTNP) -> None:
    both = cost_model.learn(model, 10) + cost_model.ask(model, 10)
    assert both.bytes == 10 * model.bytes_per_point()
    narrow = cost_model.ask(model.float(), 10, "int8")
    assert narrow.bytes == 10 * model.bytes_per_point("int8") // 2


@pytest.mark.parametrize(("draws", "targets"), [(1, 1), (3, 4)])
@torch.no_grad()
def test_a_draw_is_so_many_questions_and_updates(model: IncTNP, draws: int, targets: int) -> None:
    x, y = toy_points(model, 6)
    context = model.extend(model.empty(), x, y)
    xt, _ = toy_points(model, targets, seed=1)
    counted = cost_model.draw(model, 6, draws, targets)
    assert count_flops(lambda: model.joint_sample(context, xt, draws)) == counted.flops


def test_time_is_what_is_fixed_and_bytes_over_their_rate() -> None:
    assert Cost(flops=9, bytes=30).seconds(fixed=1.0, bandwidth=10.0) == 4.0
