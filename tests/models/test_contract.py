"""Every promise of the contract, for every model and every variation of its settings."""

from typing import Any

import pytest
import torch
from torch import Tensor

from inctnp.errors import DtypeError, EmptyContextError, ShapeError
from inctnp.models.base import NeuralProcess
from inctnp.models.config import NAMES
from inctnp.predictive.base import Predictive
from inctnp.testing import checks
from inctnp.testing.toy import toy_model, toy_points

INCREMENTAL = ("inctnp", "inctnp-seq", "inctnp-prior")
INVARIANT = ("cnp", "tnp-d", "lbanp", "tnp-a")
VARIATIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "mixture, two outputs": {"components": 3, "dim_y": 2, "dim_x": 1},
    "features": {"grids": ((0.5, 2.0), (1.0, 3.0, 9.0))},
}


def every(names: tuple[str, ...]) -> Any:
    """All names with plain settings; one name of each kind of network with every other variation."""
    kinds = {"cnp", "tnp-d", "tnp-a", "inctnp-prior"}
    return pytest.mark.parametrize(
        "model",
        [
            pytest.param(toy_model(n, **v), id=f"{n}, {label}")
            for n in names
            for label, v in VARIATIONS.items()
            if label == "plain" or n in kinds
        ],
    )


def published_next(model: Any, x: Tensor, y: Tensor, xt: Tensor, yt: Tensor) -> Predictive:
    """TNP-A's predictive of the last target, by the published form."""
    unknown = yt.new_full((*y.shape[:-2], 1, y.shape[-1]), 7.0)  # nobody may look at it
    p = model.query_published(model.extend(model.empty(x.shape[:-2]), x, y), xt, torch.cat([yt, unknown], dim=-2))
    return p.reshape(lambda part: part[..., -1:, :])


def published_density(model: NeuralProcess, x: Tensor, y: Tensor, xt: Tensor, yt: Tensor) -> Tensor:
    steps = range(xt.shape[-2])
    each = [
        published_next(model, x, y, xt[..., : i + 1, :], yt[..., :i, :]).log_prob(yt[..., i : i + 1, :]) for i in steps
    ]
    return torch.cat(each, dim=-2).sum(dim=(-2, -1))


def published_sample(
    model: NeuralProcess, x: Tensor, y: Tensor, xt: Tensor, draws: int, generator: torch.Generator
) -> Tensor:
    x, y, xt = (t.expand(draws, *t.shape) for t in (x, y, xt))
    drawn = y[..., :0, :]
    for i in range(xt.shape[-2]):
        value = published_next(model, x, y, xt[..., : i + 1, :], drawn).sample(generator)
        drawn = torch.cat([drawn, value], dim=-2)
    return drawn


@every(NAMES)
def test_streaming_in_any_chunks_is_one_batch(model: NeuralProcess) -> None:
    checks.check_streaming_equals_batch(model)


@every(INCREMENTAL)
def test_later_points_change_nothing_about_earlier_ones(model: NeuralProcess) -> None:
    checks.check_prefix_causality(model)


@every(INCREMENTAL)
def test_dense_row_n_predicts_the_next_point_from_the_first_n(model: NeuralProcess) -> None:
    if model.config.name == "inctnp-prior":  # the empty prefix is a prefix too
        x, y = toy_points(model, 1, batch=(2,))
        checks.assert_same(model.dense(x, y), model.query(model.empty(2), x), "the first dense row")
    checks.check_dense_rows_equal_prefix_predictions(model)


@every(INVARIANT)
def test_the_order_of_the_context_does_not_matter(model: NeuralProcess) -> None:
    checks.check_permutation_invariance(model)


@every(INCREMENTAL)
def test_incremental_models_do_depend_on_the_order(model: NeuralProcess) -> None:
    with pytest.raises(AssertionError, match="context in order"):
        checks.check_permutation_invariance(model)


@every(NAMES)
def test_targets_are_independent(model: NeuralProcess) -> None:
    checks.check_target_independence(model)


@every(NAMES)
def test_forks_never_see_each_other(model: NeuralProcess) -> None:
    checks.check_fork_isolation(model, steps=15)


@every(NAMES)
def test_a_rollback_is_never_having_seen(model: NeuralProcess) -> None:
    checks.check_rollback(model)


@every(NAMES)
def test_one_pass_joint_density_is_step_by_step(model: NeuralProcess) -> None:
    if model.config.name == "tnp-a":
        checks.check_joint_density(model, published_density)
    else:
        checks.check_joint_density(model)


@every(NAMES)
@pytest.mark.parametrize(("draws", "batch"), [(1, ()), (2, (2, 3))])
def test_fused_sampling_is_the_naive_loop_under_the_same_noise(
    model: NeuralProcess, draws: int, batch: tuple[int, ...]
) -> None:
    if model.config.name == "tnp-a":
        checks.check_sampling(model, published_sample, draws=draws, batch=batch)
    else:
        checks.check_sampling(model, draws=draws, batch=batch)


@every(NAMES)
def test_saving_and_loading_go_on_bit_for_bit(model: NeuralProcess) -> None:
    checks.check_save_load(model)


@every(NAMES)
def test_a_stream_keeps_no_graph(model: NeuralProcess) -> None:
    checks.check_no_graph(model)


@every(NAMES)
@torch.no_grad()
def test_batch_elements_do_not_know_each_other(model: NeuralProcess) -> None:
    """Predictions, densities and draws of one element stay when all other elements change."""
    x, y = toy_points(model, 5, batch=(2, 3))
    xt, yt = toy_points(model, 3, seed=1, batch=(2, 3))

    def ask(ys: Tensor) -> list[Tensor]:
        context = model.extend(model.empty((2, 3)), x, ys)
        sample = model.joint_sample(context, xt, 2, generator=torch.Generator().manual_seed(0))
        return [model.query(context, xt).mean, model.joint_log_prob(context, xt, yt), sample.draws.movedim(0, 2)]

    changed = y + 5.0
    changed[1, 2] = y[1, 2]
    for before, after in zip(ask(y), ask(changed), strict=True):
        checks.assert_close(after[1, 2], before[1, 2], "an element whose neighbours changed")
        assert (after[0, 0] - before[0, 0]).abs().max() > 1e-6
    alone = model.extend(model.empty(), x[1, 2], y[1, 2])
    checks.assert_close(ask(y)[0][1, 2], model.query(alone, xt[1, 2]).mean, "an element in a batch and alone")


@every(NAMES)
@torch.no_grad()
def test_marginals_of_a_joint_sample_are_the_distributions_the_values_were_drawn_from(model: NeuralProcess) -> None:
    x, y = toy_points(model, 4, batch=(2,))
    xt, _ = toy_points(model, 3, seed=1, batch=(2,))
    context = model.extend(model.empty(2), x, y)
    joint = model.joint_sample(context, xt, 4, generator=torch.Generator().manual_seed(3))
    for draw in range(4):
        each = model.conditionals(context, xt, joint.draws[draw])
        parts = each.components()[1]
        own = joint.marginals.means.unflatten(0, (-1, 4))[:, draw]
        checks.assert_close(own, parts, f"means behind draw {draw}")


@every(NAMES)
@torch.no_grad()
def test_random_target_orders_give_draws_back_in_the_order_asked(model: NeuralProcess) -> None:
    """Each target is first in some draw, and is then drawn from its factorised predictive."""
    x, y = toy_points(model, 4)
    xt, yt = toy_points(model, 3, seed=1)
    context = model.extend(model.empty(), x, y)
    joint = model.joint_sample(context, xt, 64, generator=torch.Generator().manual_seed(3), random_order=True)
    assert joint.draws.shape == (64, 3, model.config.dim_y)
    factorised = model.query(context, xt).components()[1][0]
    parts = joint.marginals.means
    assert ((parts - factorised).abs().amin(dim=0) < 1e-9).all()
    assert model.joint_log_prob(context, xt, yt, orders=3).shape == ()


@every(NAMES)
@torch.no_grad()
def test_averaging_all_orders_of_two_targets_is_the_log_of_the_mean_density(model: NeuralProcess) -> None:
    x, y = toy_points(model, 4)
    xt, yt = toy_points(model, 2, seed=1)
    context = model.extend(model.empty(), x, y)
    forwards, backwards = (model.joint_log_prob(context, xt[o], yt[o]) for o in ([0, 1], [1, 0]))
    averaged = model.joint_log_prob(context, xt, yt, orders=6, generator=torch.Generator().manual_seed(0))
    possible = [
        torch.logsumexp(
            torch.stack([forwards + torch.tensor(k / 6.0).log(), backwards + torch.tensor(1 - k / 6).log()]), 0
        )
        for k in range(7)
    ]
    assert min((averaged - value).abs().item() for value in possible) < 1e-6


@every(NAMES)
@torch.no_grad()
def test_predict_then_learn_is_both_after_each_other(model: NeuralProcess) -> None:
    x, y = toy_points(model, 6, batch=(2,))
    context = model.extend(model.empty(2), x[:, :5], y[:, :5])
    predictive, learned = model.query_then_extend(context, x[:, 5:], y[:, 5:])
    checks.assert_same(predictive, model.query(context, x[:, 5:]), "what was predicted before the outcome was known")
    checks.assert_same(model.query(learned, x), model.query(model.extend(model.empty(2), x, y), x), "what was learned")


@every(NAMES)
@torch.no_grad()
def test_no_new_points_and_no_targets_are_answered(model: NeuralProcess) -> None:
    x, y = toy_points(model, 4, batch=(2,))
    context = model.extend(model.empty(2), x, y)
    same = model.extend(context, x[:, :0], y[:, :0])
    assert len(same) == 4
    checks.assert_same(model.query(same, x), model.query(context, x), "after no new points")
    assert model.query(context, x[:, :0]).mean.shape == (2, 0, model.config.dim_y)
    assert model.conditionals(context, x[:, :0], y[:, :0]).mean.shape == (2, 0, model.config.dim_y)
    assert model.joint_log_prob(context, x[:, :0], y[:, :0]).tolist() == [0.0, 0.0]
    with pytest.raises(ShapeError, match="at least one draw and one target"):
        model.joint_sample(context, x[:, :0], 3)
    with pytest.raises(ShapeError, match="at least one draw"):
        model.joint_sample(context, x, 0)


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_of_nobody_is_refused(name: str) -> None:
    with pytest.raises(ShapeError, match="at least one task or stream"):
        toy_model(name).empty(0)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "inctnp-prior"])
def test_an_empty_context_without_a_prior_is_refused_by_every_question(name: str) -> None:
    model = toy_model(name)
    x, y = toy_points(model, 3)
    empty = model.empty()
    for ask in (
        lambda: model.query(empty, x),
        lambda: model.joint_log_prob(empty, x, y),
        lambda: model.joint_sample(empty, x, 2),
        lambda: model.query(model.extend(empty, x, y).truncate(0), x),
    ):
        with pytest.raises(EmptyContextError, match="at least one point"):
            ask()


@pytest.mark.parametrize("name", INCREMENTAL)
def test_with_a_prior_no_data_is_a_context(name: str) -> None:
    model = toy_model(name, prior=True)
    x, y = toy_points(model, 3, batch=(2,))
    empty = model.empty(2)
    assert len(empty) == 0 and model.query(empty, x).mean.shape == (2, 3, 1)
    assert torch.isfinite(model.joint_log_prob(empty, x, y)).all()
    checks.check_joint_density(model, points=0)
    checks.check_dense_rows_equal_prefix_predictions(model)


@pytest.mark.parametrize("name", NAMES)
def test_tensors_that_do_not_fit_are_refused_with_both_shapes(name: str) -> None:
    model = toy_model(name)
    x, y = toy_points(model, 3, batch=(2,))
    context = model.extend(model.empty(2), x, y)
    with pytest.raises(ShapeError, match=r"x must be \[2, points, 2\].*not \[2, 3, 1\]"):
        model.query(context, x[..., :1])
    with pytest.raises(ShapeError, match=r"x must be \[2, points, 2\].*not \[3, 2\]"):
        model.query(context, x[0])
    with pytest.raises(ShapeError, match=r"y must be \[2, points, 1\].*not \[2, 3, 2\]"):
        model.extend(context, x, x)
    with pytest.raises(DtypeError, match=r"float32.*model is torch\.float64"):
        model.query(context, x.float())
    with pytest.raises(DtypeError, match=r"on meta.*on cpu"):
        model.query(context, x.to("meta"))
    assert len(context) == 3


@pytest.mark.parametrize("name", NAMES)
def test_the_objective_is_the_mean_negative_log_density_of_what_the_model_learns_to_predict(name: str) -> None:
    import inctnp

    model = toy_model(name, dim_y=2)
    x, y = toy_points(model, 9, batch=(2,))
    task = inctnp.Task(xc=x[:, :5], yc=y[:, :5], xt=x[:, 5:], yt=y[:, 5:])
    loss = model.objective(task)
    with torch.no_grad():
        if name in ("inctnp-seq", "inctnp-prior"):
            first = 0 if name == "inctnp-prior" else 1
            each = [
                model.query(model.extend(model.empty(2), x[:, :n], y[:, :n]), x[:, n : n + 1]).log_prob(y[:, n : n + 1])
                for n in range(first, 9)
            ]
        elif name == "tnp-a":
            joint = published_density(model, task.xc, task.yc, task.xt, task.yt)
            each = [joint / 8]
        else:
            each = [model.query(model.extend(model.empty(2), task.xc, task.yc), task.xt).log_prob(task.yt)]
        checks.assert_close(loss.detach(), -torch.cat(each, dim=-1 if name == "tnp-a" else -2).mean(), "the objective")
    loss.backward()
    reached = [part for part, p in model.named_parameters() if p.grad is None or not torch.isfinite(p.grad).all()]
    assert reached == []
