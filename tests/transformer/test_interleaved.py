"""The stack: what an update and a question cost, counted; and whom a point can influence."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from inctnp.models.base import NeuralProcess
from inctnp.testing.toy import toy_model, toy_points

WIDTH, LAYERS = 16, 2


@pytest.fixture
def model() -> NeuralProcess:
    return toy_model("inctnp-seq", width=WIDTH, layers=LAYERS)


def flops(work: Callable[[], Any]) -> int:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        work()
    return counter.get_total_flops()


def context_of(model: NeuralProcess, points: int) -> Any:
    with torch.no_grad():
        return model.extend(model.empty(), *toy_points(model, points))


def test_the_cost_of_an_update_is_linear_in_what_was_seen(model: NeuralProcess) -> None:
    x, y = toy_points(model, 1)
    at = {n: flops(lambda n=n: model.extend(context_of(model, n), x, y)) - flops(lambda n=n: context_of(model, n))
          for n in (64, 128, 192)}  # fmt: skip
    # A row attends to n others: a product with keys and one with values, two operations each, in every layer.
    assert at[192] - at[128] == at[128] - at[64] == 64 * 2 * 2 * WIDTH * LAYERS


def test_the_cost_of_a_question_has_no_projection_of_the_past(model: NeuralProcess) -> None:
    xt, _ = toy_points(model, 3)
    contexts = {n: context_of(model, n) for n in (64, 128, 192)}
    at = {n: flops(lambda n=n: model.query(contexts[n], xt)) for n in contexts}
    # Projecting keys and values again would add 2 · 2 · WIDTH · WIDTH per point and layer.
    assert at[192] - at[128] == at[128] - at[64] == 3 * 64 * 2 * 2 * WIDTH * LAYERS


class Allocations(TorchDispatchMode):
    """Sizes of tensors that are made, as opposed to views of what was there."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = {t.untyped_storage().data_ptr() for t in _tensors((args, kwargs or {}))}
        out = func(*args, **(kwargs or {}))
        for tensor in _tensors(out):
            if tensor.untyped_storage().data_ptr() not in before:
                self.largest = max(self.largest, tensor.numel())
        return out


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for part in value for t in _tensors(part)] if isinstance(value, list | tuple) else []


@torch.no_grad()
def test_an_update_allocates_nothing_the_size_of_the_past(model: NeuralProcess) -> None:
    points = 700
    context = model.extend(context_of(model, points), *toy_points(model, 1))  # room behind it
    x, y = toy_points(model, 1, seed=2)
    with Allocations() as made:
        context = model.extend(context, x, y)
    scores = model.config.heads * len(context)
    assert made.largest <= max(scores, 3 * WIDTH)


@torch.no_grad()
def test_a_chunk_allocates_its_own_scores_and_no_square_of_the_history(model: NeuralProcess) -> None:
    points, chunk = 700, 10
    context = model.extend(context_of(model, points), *toy_points(model, 1))
    x, y = toy_points(model, chunk, seed=2)
    with Allocations() as made:
        context = model.extend(context, x, y)
    assert made.largest <= model.config.heads * chunk * len(context)


@torch.no_grad()
def test_a_question_allocates_its_scores_and_nothing_else_of_that_size(model: NeuralProcess) -> None:
    context = context_of(model, 700)
    xt, _ = toy_points(model, 1)
    with Allocations() as made:
        model.query(context, xt)
    assert made.largest <= model.config.heads * len(context)


@torch.no_grad()
def test_sampling_encodes_the_context_once_however_many_draws_there_are(model: NeuralProcess) -> None:
    xt, _ = toy_points(model, 5)
    context = context_of(model, 200)
    one, two, three = (flops(lambda n=n: model.joint_sample(context, xt, n)) for n in (1, 2, 3))
    assert three - two == two - one
    assert one < flops(lambda: context_of(model, 200))
