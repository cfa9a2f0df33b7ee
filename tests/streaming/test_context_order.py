"""Greedy orders against the algorithm with a re-encoding at every look."""

import pytest
import torch

from inctnp.errors import EmptyContextError, ShapeError, UnknownNameError
from inctnp.streaming.context_order import greedy_order
from inctnp.streaming.recompute import query_from_scratch
from inctnp.testing.checks import assert_same
from inctnp.testing.toy import toy_model, toy_points


@pytest.mark.parametrize("choice", ["max", "median", "min"])
@pytest.mark.parametrize("name", ["inctnp-prior", "tnp-d", "cnp"])
def test_each_round_takes_the_point_of_extreme_or_middle_variance(name: str, choice: str) -> None:
    model = toy_model(name, components=2)
    x0, y0 = toy_points(model, 2)
    x, y = toy_points(model, 6, seed=1)
    seen, left = [], list(range(6))
    while left:
        xs, ys = torch.cat([x0, x[seen]]), torch.cat([y0, y[seen]])
        variance = {i: query_from_scratch(model, xs, ys, x[[i]]).variance.item() for i in left}
        ranked = sorted(left, key=variance.__getitem__)
        best = {"max": ranked[-1], "min": ranked[0], "median": ranked[(len(ranked) - 1) // 2]}[choice]
        seen.append(best)
        left.remove(best)
    context, order = greedy_order(model, model.extend(model.empty(), x0, y0), x, y, choice)
    assert order.tolist() == seen
    xt, _ = toy_points(model, 3, seed=2)
    expected = query_from_scratch(model, torch.cat([x0, x[seen]]), torch.cat([y0, y[seen]]), xt)
    assert_same(model.query(context, xt), expected, "the context learned in that order")


def test_every_task_of_a_batch_has_an_order_of_its_own() -> None:
    model = toy_model("inctnp-prior")
    x, y = toy_points(model, 6, batch=(2, 2))
    _, order = greedy_order(model, model.empty((2, 2)), x, y)
    for i in range(2):
        for j in range(2):
            assert torch.equal(order[i, j], greedy_order(model, model.empty(), x[i, j], y[i, j])[1])


def test_what_cannot_be_ordered_is_refused() -> None:
    model = toy_model("inctnp")
    x, y = toy_points(model, 4)
    with pytest.raises(UnknownNameError, match=r"'mean'.*max, median, min"):
        greedy_order(model, model.empty(), x, y, "mean")
    with pytest.raises(EmptyContextError, match="at least one point"):
        greedy_order(model, model.empty(), x, y)
    with pytest.raises(ShapeError, match="4 points and y has 3"):
        greedy_order(model, model.empty(), x, y[:3])
