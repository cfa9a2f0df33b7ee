"""What a neural process promises, each promise one function.

A check takes a float64 model, so that rounding is far below what it tolerates, and raises `AssertionError` saying
what was compared and how far apart the two sides were. Data are random and depend on `seed` alone.

>>> from inctnp.testing.toy import toy_model
>>> check_streaming_equals_batch(toy_model("inctnp-seq"), chunks=(1, 4, 2))
>>> check_permutation_invariance(toy_model("tnp-d"))
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from inctnp.errors import DtypeError, RollbackError
from inctnp.models.base import NeuralProcess
from inctnp.models.inc_tnp import IncTNP
from inctnp.predictive.base import Predictive
from inctnp.pretrained.weights import from_pretrained, save_pretrained
from inctnp.seeding import generator
from inctnp.streaming.recompute import joint_log_prob_step_by_step, query_from_scratch, sample_step_by_step
from inctnp.streaming.session import Stream
from inctnp.testing.toy import toy_points

TOLERANCE = 1e-10
"""Largest difference that counts as rounding."""
TARGETS = 4


def assert_same(actual: Predictive, expected: Predictive, claim: str) -> None:
    """Two predictives have the same parts: weights, means and deviations."""
    for part, ours, theirs in zip(
        ("log-weights", "means", "deviations"), actual.components(), expected.components(), strict=True
    ):
        assert_close(ours, theirs, f"{claim} ({part})")


def assert_close(actual: Tensor, expected: Tensor, claim: str) -> None:
    """Two tensors agree to rounding."""
    if actual.shape != expected.shape:
        raise AssertionError(f"{claim}: shapes {tuple(actual.shape)} and {tuple(expected.shape)} differ.")
    if not torch.isfinite(expected).all():
        raise AssertionError(f"{claim}: the value to compare with is not finite.")
    apart = (actual - expected).abs().max().item() if actual.numel() else 0.0
    allowed = TOLERANCE * (1 + expected.abs().max().item() if expected.numel() else 1)
    if not apart <= allowed:
        raise AssertionError(f"{claim}: the two sides differ by {apart:.3g}, more than {allowed:.1g}.")


@torch.no_grad()
def check_streaming_equals_batch(
    model: NeuralProcess, chunks: Sequence[int] = (1, 1, 5, 2, 8, 1), batch: Sequence[int] = (2,), seed: int = 0
) -> None:
    """However a stream was cut, the predictive is that of all points at once."""
    _require_float64(model)
    x, y = toy_points(model, sum(chunks), seed=seed, batch=batch)
    xt, _ = toy_points(model, TARGETS, seed=seed + 1, batch=batch)
    context = model.empty(batch)
    for xs, ys in zip(x.split(list(chunks), dim=-2), y.split(list(chunks), dim=-2), strict=True):
        context = model.extend(context, xs, ys)
    if len(context) != sum(chunks):
        raise AssertionError(f"A context given {sum(chunks)} points says it has {len(context)}.")
    expected = query_from_scratch(model, x, y, xt)
    assert_same(model.query(context, xt), expected, f"a stream cut into {list(chunks)} against one batch")


@torch.no_grad()
def check_prefix_causality(model: NeuralProcess, points: int = 9, seed: int = 0) -> None:
    """Later points never change what is known of earlier ones (incremental models only).

    The context after a truncation holds what was computed when later points were there already.
    """
    _require_float64(model)
    x, y = toy_points(model, points, seed=seed)
    xt, _ = toy_points(model, TARGETS, seed=seed + 1)
    context = model.extend(model.empty(), x, y)
    for n in range(1, points):
        other = model.extend(model.empty(), x[:n], y[:n])
        kept = context.truncate(n)
        assert_same(model.query(kept, xt), model.query(other, xt), f"the first {n} of {points} points, kept or alone")


@torch.no_grad()
def check_dense_rows_equal_prefix_predictions(model: NeuralProcess, points: int = 9, seed: int = 0) -> None:
    """Row n of the dense training pass is the predictive of point n + 1 from the first n (models with `dense`)."""
    _require_float64(model)
    x, y = toy_points(model, points, seed=seed, batch=(2,))
    dense = cast(IncTNP, model).dense(x, y)
    first = points - dense.mean.shape[-2]
    for n in range(first, points):
        alone = query_from_scratch(model, x[:, :n], y[:, :n], x[:, n : n + 1])
        row = dense.reshape(lambda part, n=n: part[:, n - first : n - first + 1])
        assert_same(row, alone, f"dense row {n - first} against a prediction from {n} points")


@torch.no_grad()
def check_permutation_invariance(model: NeuralProcess, points: int = 9, seed: int = 0) -> None:
    """The order of the context does not matter (not promised by incremental models)."""
    _require_float64(model)
    x, y = toy_points(model, points, seed=seed)
    xt, _ = toy_points(model, TARGETS, seed=seed + 1)
    order = torch.randperm(points, generator=generator(seed, "order"))
    shuffled = query_from_scratch(model, x[order], y[order], xt)
    assert_same(shuffled, query_from_scratch(model, x, y, xt), f"the context in order {order.tolist()}")


@torch.no_grad()
def check_target_independence(model: NeuralProcess, points: int = 5, seed: int = 0) -> None:
    """Asking about other targets as well changes no target's predictive, and asking changes no later answer."""
    _require_float64(model)
    x, y = toy_points(model, points, seed=seed)
    xt, _ = toy_points(model, TARGETS, seed=seed + 1)
    context = model.extend(model.empty(), x, y)
    together = model.query(context, xt)
    for i in range(TARGETS):
        alone = model.query(context, xt[i : i + 1])
        row = together.reshape(lambda part, i=i: part[i : i + 1])
        assert_same(alone, row, f"target {i} alone against among {TARGETS}")
    assert_same(model.query(context, xt), together, "the same question asked again")


@torch.no_grad()
def check_fork_isolation(
    model: NeuralProcess, steps: int = 30, most: int = 6, batch: Sequence[int] = (), seed: int = 0
) -> None:
    """Owners of a shared past fork, append and roll back in random order; each stays what it would be alone.

    `most` is the largest number of points appended at once.
    """
    _require_float64(model)
    rng = generator(seed, "program")
    x, y = toy_points(model, steps * most + 1, seed=seed, batch=batch)
    xt, _ = toy_points(model, 2, seed=seed + 1, batch=batch)
    owners: list[tuple[Any, list[int]]] = [(model.extend(model.empty(batch), x[..., :1, :], y[..., :1, :]), [0])]
    used = 1
    for _ in range(steps):
        who = _draw(len(owners), rng)
        context, rows = owners[who]
        match _draw(4, rng):
            case 0:
                owners.append((context, rows))
            case 1:
                to = 1 + _draw(len(rows), rng)
                owners[who] = _rolled_back(context, rows, to)
            case _:
                new = list(range(used, used + 1 + _draw(most, rng)))
                used = new[-1] + 1
                owners[who] = (model.extend(context, x[..., new, :], y[..., new, :]), rows + new)
    for number, (context, rows) in enumerate(owners):
        alone = query_from_scratch(model, x[..., rows, :], y[..., rows, :], xt)
        assert_same(model.query(context, xt), alone, f"owner {number} of {len(owners)}, with {len(rows)} rows")


def check_rollback(model: NeuralProcess, points: int = 9, to: int = 4, seed: int = 0) -> None:
    """A stream rolled back predicts, and goes on, as if the later rows had never come."""
    _require_float64(model)
    x, y = toy_points(model, points + 3, seed=seed)
    xt, _ = toy_points(model, TARGETS, seed=seed + 1)
    stream, never = Stream(model, keep_rows=True), Stream(model)
    stream.observe(x[:points], y[:points])
    stream.rollback(to)
    never.observe(x[:to], y[:to])
    assert_same(stream.predict(xt), never.predict(xt), f"{points} rows rolled back to {to} against {to} rows")
    for other in (stream, never):
        other.observe(x[points:], y[points:])
    assert_same(stream.predict(xt), never.predict(xt), "the same, some rows later")


Density = Callable[[NeuralProcess, Tensor, Tensor, Tensor, Tensor], Tensor]
"""(model, x, y, xt, yt) to a joint log-density, by the slow path."""


@torch.no_grad()
def check_joint_density(
    model: NeuralProcess, naive: Density = joint_log_prob_step_by_step, points: int = 5, seed: int = 0
) -> None:
    """The joint log-density is the sum of conditionals computed one at a time from the raw points."""
    _require_float64(model)
    x, y = toy_points(model, points, seed=seed, batch=(2,))
    xt, yt = toy_points(model, TARGETS, seed=seed + 1, batch=(2,))
    joint = model.joint_log_prob(model.extend(model.empty(2), x, y), xt, yt)
    assert_close(joint, naive(model, x, y, xt, yt), "joint log-density in one go against step by step")


Sampler = Callable[[NeuralProcess, Tensor, Tensor, Tensor, int, torch.Generator], Tensor]
"""(model, x, y, xt, draws, generator) to draws, by the slow path."""


@torch.no_grad()
def check_sampling(
    model: NeuralProcess,
    naive: Sampler = sample_step_by_step,
    draws: int = 3,
    batch: Sequence[int] = (2,),
    seed: int = 0,
) -> None:
    """Under the same noise, shared-past sampling draws what a naive loop draws, and batch elements never mix."""
    _require_float64(model)
    x, y = toy_points(model, 5, seed=seed, batch=batch)
    xt, _ = toy_points(model, TARGETS, seed=seed + 1, batch=batch)
    context = model.extend(model.empty(batch), x, y)
    sample = model.joint_sample(context, xt, draws, generator=generator(seed, "noise"))
    expected = naive(model, x, y, xt, draws, generator(seed, "noise"))
    assert_close(sample.draws, expected, f"{draws} fused draws against a loop under the same noise")
    again = model.joint_sample(context, xt, draws, generator=generator(seed, "noise"))
    if not torch.equal(again.draws, sample.draws):
        raise AssertionError("The same generator gave other draws: sampling changed the context or used other noise.")


def check_save_load(model: NeuralProcess, points: int = 7, seed: int = 0) -> None:
    """A saved model and a saved stream go on bit for bit."""
    _require_float64(model)
    x, y = toy_points(model, points + 3, seed=seed)
    xt, _ = toy_points(model, TARGETS, seed=seed + 1)
    stream = Stream(model)
    stream.observe(x[:points], y[:points])
    with tempfile.TemporaryDirectory() as folder:
        again = from_pretrained(save_pretrained(model, Path(folder) / "model"))
        loaded = Stream.load(stream.save(Path(folder) / "state.safetensors"), model=again)
    for rows in (slice(points, points), slice(points, points + 1), slice(points + 1, points + 3)):
        for other in (stream, loaded):
            other.observe(x[rows], y[rows])
        ours, theirs = loaded.predict(xt).components(), stream.predict(xt).components()
        if not all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True)):
            raise AssertionError(f"A stream saved after {points} rows differs from the unbroken one at {len(stream)}.")


def check_no_graph(model: NeuralProcess, points: int = 3, seed: int = 0) -> None:
    """A stream keeps no autograd graph, whatever it is fed and whether or not gradients are on."""
    x, y = toy_points(model, points, seed=seed)
    stream = Stream(model, keep_rows=True)
    with torch.enable_grad():
        for i in range(points):
            stream.observe(x[i].clone().requires_grad_(), y[i].clone().requires_grad_())
        answers = [*stream.predict(x).components(), stream.log_prob(x, y), stream.sample(x, 2).draws]
    _, kept = stream._memory.context.state()
    for tensor in [*kept.values(), *answers, stream._x, stream._y]:
        if tensor.requires_grad:
            raise AssertionError("A stream keeps or returns a tensor with an autograd graph.")


def _rolled_back(context: Any, rows: list[int], to: int) -> tuple[Any, list[int]]:
    """A model that cannot go back, as a running sum cannot, stays where it is."""
    try:
        return context.truncate(to), rows[:to]
    except RollbackError:
        return context, rows


def _draw(below: int, rng: torch.Generator) -> int:
    return int(torch.randint(below, (), generator=rng))


def _require_float64(model: NeuralProcess) -> None:
    if model.dtype != torch.float64:
        raise DtypeError(
            f"Checks compare to {TOLERANCE:g}, so they need a float64 model, not {model.dtype}: .double()."
        )
