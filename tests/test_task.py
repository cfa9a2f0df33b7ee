"""Tasks: prefixes, permutations, and shapes that must agree."""

from typing import Any

import pytest
import torch

from inctnp.errors import ShapeError
from inctnp.seeding import generator
from inctnp.task import Task


def task(batch: tuple[int, ...] = (2,)) -> Task:
    x = torch.arange(2 * 7).double().view(7, 2).expand(*batch, 7, 2)
    y = x.sum(-1, keepdim=True)
    return Task(xc=x[..., :4, :], yc=y[..., :4, :], xt=x[..., 4:, :], yt=y[..., 4:, :])


def test_a_prefix_keeps_the_question_and_the_first_points() -> None:
    asked = task().prefix(2)
    assert torch.equal(asked.xc, task().xc[:, :2]) and torch.equal(asked.yc, task().yc[:, :2])
    assert torch.equal(asked.xt, task().xt)


def test_a_permutation_moves_inputs_and_outputs_together_and_each_task_on_its_own() -> None:
    original, shuffled = task((50,)), task((50,)).permute(generator(0))
    assert torch.equal(shuffled.xc.sum(-1, keepdim=True), shuffled.yc)
    assert torch.equal(shuffled.yc.sort(dim=1).values, original.yc)
    assert len({tuple(row.flatten().tolist()) for row in shuffled.yc}) > 10


def test_a_sequence_is_context_then_targets() -> None:
    x, y = task().as_sequence()
    assert torch.equal(x.sum(-1, keepdim=True), y) and x[0, :, 0].tolist() == [0, 2, 4, 6, 8, 10, 12]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"yc": torch.zeros(2, 3, 1)}, r"context of a task has inputs \(2, 4, 2\) and outputs \(2, 3, 1\)"),
        ({"yt": torch.zeros(2, 1, 1)}, "target of a task"),
        ({"xt": torch.zeros(3, 3, 2), "yt": torch.zeros(3, 3, 1)}, "context inputs .* and target inputs"),
        ({"xt": torch.zeros(2, 3, 5)}, "context inputs .* and target inputs"),
        ({"yt": torch.zeros(2, 3, 4)}, "context outputs .* and target outputs"),
    ],
)
def test_sides_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    fields = {name: getattr(task(), name) for name in ("xc", "yc", "xt", "yt")}
    with pytest.raises((ShapeError, TypeError)) as caught:
        Task(**{**fields, **change})
    if isinstance(caught.value, ShapeError):  # the shape checks of the tests may come first
        assert caught.match(message)
