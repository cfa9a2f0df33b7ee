"""The checks notice a model that breaks its promise; a check that cannot fail proves nothing."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from inctnp.errors import DtypeError
from inctnp.models import inc_tnp
from inctnp.models.cnp import CNP
from inctnp.models.kept_points import KeptPoints
from inctnp.predictive.gaussian import Gaussian
from inctnp.testing import checks
from inctnp.testing.toy import toy_model, toy_points
from inctnp.transformer import cache as caches


def patched(model: Any, method: str, change: Callable[..., Any]) -> Any:
    original = getattr(model, method)
    setattr(model, method, lambda *args, **settings: change(original, *args, **settings))
    return model


def fails(check: Callable[..., None], model: Any, message: str, **settings: Any) -> None:
    with pytest.raises(AssertionError, match=message):
        check(model, **settings)


def test_a_chunk_that_does_not_see_its_past(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inc_tnp, "_among", lambda points: torch.eye(points, dtype=torch.bool) if points > 1 else None)
    fails(checks.check_streaming_equals_batch, toy_model("inctnp"), "a stream cut into")


def test_a_chunk_that_sees_its_future(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inc_tnp, "_among", lambda points: None)
    fails(checks.check_streaming_equals_batch, toy_model("inctnp"), "a stream cut into")
    fails(checks.check_prefix_causality, toy_model("inctnp"), "kept or alone")
    fails(checks.check_dense_rows_equal_prefix_predictions, toy_model("inctnp-seq"), "dense row")


def test_an_append_that_writes_over_a_forks_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def append(cache: Any, points: int) -> Any:
        last = cache.views[-1] if cache.views else None
        if last is not None and last.draws == cache.draws and last.length + points <= last.block.capacity:
            return caches.Append(cache, cache.views[:-1], last, points)
        return original(cache, points)

    original = caches.Cache.append
    monkeypatch.setattr(caches.Cache, "append", append)
    fails(checks.check_fork_isolation, toy_model("inctnp"), "owner")


def test_targets_that_look_at_each_other() -> None:
    def query(original: Any, context: Any, xt: torch.Tensor) -> Any:
        p = original(context, xt)
        return Gaussian(p.mean + xt.mean(), p.stddev)

    fails(checks.check_target_independence, patched(toy_model("tnp-d"), "query", query), "target 0 alone")


def test_a_sum_divided_in_place() -> None:
    def query(original: Any, context: Any, xt: torch.Tensor) -> Any:
        answer = original(context, xt)
        context.total.div_(2)
        return answer

    fails(checks.check_target_independence, patched(toy_model("cnp"), "query", query), r"target \d alone|asked again")


def test_an_order_that_matters() -> None:
    fails(checks.check_permutation_invariance, toy_model("inctnp"), "context in order")


def test_a_density_that_forgets_a_target() -> None:
    def conditionals(original: Any, context: Any, xt: torch.Tensor, yt: torch.Tensor) -> Any:
        return original(context, xt, torch.zeros_like(yt))

    fails(checks.check_joint_density, patched(toy_model("inctnp"), "conditionals", conditionals), "step by step")


def test_draws_that_mix_batch_elements() -> None:
    def step(original: Any, state: Any, x: Any, y: torch.Tensor, xt: Any) -> Any:
        return original(state, x, y.roll(1, dims=1), xt)

    fails(checks.check_sampling, patched(toy_model("inctnp"), "step", step), "fused draws")


def test_a_rollback_that_keeps_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    original = KeptPoints.truncate
    monkeypatch.setattr(KeptPoints, "truncate", lambda kept, points: original(kept, points + 1))
    fails(checks.check_rollback, toy_model("tnp-d"), "rolled back to 4")


def test_a_state_that_loses_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    original = CNP.restore
    monkeypatch.setattr(
        CNP,
        "restore",
        lambda model, header, tensors: original(model, header, {"total": tensors["total"] * (1 + 1e-15)}),
    )
    fails(checks.check_save_load, toy_model("cnp"), "saved after 7 rows differs")


def test_a_stream_that_keeps_a_graph() -> None:
    def query(original: Any, context: Any, xt: torch.Tensor) -> Any:
        with torch.enable_grad():
            return original(context, xt)

    fails(checks.check_no_graph, patched(toy_model("inctnp"), "query", query), "autograd graph")


def test_differences_of_shape_and_infinite_references_are_told() -> None:
    with pytest.raises(AssertionError, match=r"shapes \(2,\) and \(3,\)"):
        checks.assert_close(torch.zeros(2), torch.zeros(3), "this")
    with pytest.raises(AssertionError, match="not finite"):
        checks.assert_close(torch.zeros(1), torch.tensor([torch.nan]), "this")
    with pytest.raises(AssertionError, match="differ by nan"):
        checks.assert_close(torch.tensor([torch.nan]), torch.zeros(1), "this")


def test_a_float32_model_is_told_to_be_doubled() -> None:
    with pytest.raises(DtypeError, match=r"float64 model, not torch\.float32"):
        checks.check_target_independence(toy_model("cnp").float())


def test_toys_are_the_same_every_time_and_tell_one_seed_from_another() -> None:
    one, same, other = (next(toy_model("inctnp", seed=seed).parameters()) for seed in (0, 0, 1))
    assert torch.equal(one, same) and not torch.equal(one, other)
    model = toy_model("inctnp", dim_y=3)
    assert [t.shape for t in toy_points(model, 4, batch=(2,))] == [(2, 4, 2), (2, 4, 3)]
