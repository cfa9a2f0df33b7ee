"""incTNP: cached keys, the dense pass, and what sampling keeps in memory."""

import math

import pytest
import torch

import inctnp
from inctnp.errors import EmptyContextError
from inctnp.models import inc_tnp
from inctnp.models.config import ModelConfig
from inctnp.testing.checks import assert_close, assert_same
from inctnp.testing.toy import toy_model, toy_points

NAMES = ("inctnp", "inctnp-seq", "inctnp-prior")


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_keys_and_values_of_a_point_never_change_again(name: str) -> None:
    model = toy_model(name)
    x, y = toy_points(model, 150)
    context = model.extend(model.empty(), x[:10], y[:10])
    before = [torch.cat(context.cache.pieces(slot, model.dtype), dim=-2).clone() for slot in range(model.stack.slots)]
    for start, end in ((10, 11), (11, 70), (70, 150)):
        context = model.extend(context, x[start:end], y[start:end])
    for slot, rows in enumerate(before):
        after = torch.cat(context.cache.pieces(slot, model.dtype), dim=-2)
        assert torch.equal(after[..., : rows.shape[-2], :], rows)


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_keys_and_values_are_those_of_the_masked_network_run_once(name: str) -> None:
    """The chunked cache against self-attention over all rows at once under an explicit triangle."""
    model = toy_model(name)
    x, y = toy_points(model, 9)
    context = model.extend(model.extend(model.empty(), x[:4], y[:4]), x[4:], y[4:])
    tokens = model.embed.seen(x[None], y[None])
    if model.prior is not None:
        tokens = torch.cat([model.prior.expand(1, 1, -1), tokens], dim=1)
    rows = tokens.shape[1]
    triangle = torch.tensor([[key <= query for key in range(rows)] for query in range(rows)])
    for layer, (block, cross) in enumerate(zip(model.stack.self_blocks, model.stack.cross_blocks, strict=True)):
        queries, kept = block.read(tokens, 1)
        assert_close(torch.cat(context.cache.pieces(2 + layer, model.dtype), -2), kept, f"self-attention {layer}")
        tokens = block.mix(tokens, queries, [kept], triangle)
        expected = cross.keys_values(tokens, 1)
        assert_close(torch.cat(context.cache.pieces(layer, model.dtype), -2), expected, f"cross-attention {layer}")


@pytest.mark.parametrize("name", NAMES)
def test_a_long_prefill_in_parts_is_the_prefill_in_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = toy_model(name)
    x, y = toy_points(model, 200)
    xt, _ = toy_points(model, 3, seed=1)
    whole = model.query(model.extend(model.empty(), x, y), xt)
    monkeypatch.setattr(inc_tnp, "MOST_SCORES", 1)
    assert_same(model.query(model.extend(model.empty(), x, y), xt), whole, "200 points in parts of 64")


@pytest.mark.parametrize("draws", [1, 7])
@torch.no_grad()
def test_sampling_keeps_the_past_once_and_one_row_per_draw_and_step(draws: int) -> None:
    model = toy_model("inctnp")
    points, targets = 100, 20
    x, y = toy_points(model, points)
    xt, _ = toy_points(model, targets, seed=1)
    context = model.extend(model.empty(), x, y)
    state = model.rollout(context, draws, targets)
    xs = xt.expand(draws, -1, -1)
    for i in range(targets - 1):
        state, _ = model.step(state, xs[:, i : i + 1], torch.zeros(draws, 1, 1).double(), xs[:, i + 1 : i + 2])
    assert context.nbytes == points * model.bytes_per_point()
    assert state.nbytes == (points + draws * (targets - 1)) * model.bytes_per_point()


def test_the_padded_dense_pass_in_bfloat16_predicts_the_same_points() -> None:
    model = inctnp.build(ModelConfig(name="inctnp-seq", dim_x=2, width=16, heads=2, layers=2))
    x, y = (t.float() for t in toy_points(model, 41, batch=(3,)))
    exact = model.dense(x, y)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        narrow = model.dense(x, y)
    assert narrow.mean.shape == exact.mean.shape == (3, 40, 1) and narrow.mean.dtype == torch.float32
    torch.testing.assert_close(narrow.mean, exact.mean, rtol=0, atol=0.05)


@pytest.mark.parametrize("points", [0, 1])
def test_a_dense_pass_over_too_few_points_is_refused(points: int) -> None:
    model = toy_model("inctnp-seq")
    with pytest.raises(EmptyContextError, match=f"and {points} points leave none"):
        model.dense(*toy_points(model, points))


def test_gradients_reach_the_context_when_they_are_on_and_only_then() -> None:
    model = toy_model("inctnp")
    x, y = toy_points(model, 4)
    y.requires_grad_()
    context = model.extend(model.extend(model.empty(), x[:2], y[:2]), x[2:], y[2:])
    model.query(context, x).mean.sum().backward()
    assert y.grad is not None and (y.grad.abs() > 0).all()
    with torch.no_grad():
        context = model.extend(model.empty(), x, y)
    model.query(context, x.requires_grad_()).mean.sum().backward()
    assert x.grad is not None


def test_the_published_sizes() -> None:
    def count(name: str, **settings: int) -> int:
        return sum(p.numel() for p in inctnp.build(ModelConfig(name=name, **settings)).parameters())

    assert {count(n, dim_x=1) for n in ("tnp-d", "inctnp", "inctnp-seq")} == {1_058_818}
    assert count("inctnp-prior", dim_x=1) == 1_058_818 + 128
    assert count("lbanp", dim_x=1, latents=32) == 1_558_914
    assert count("tnp-a", dim_x=1) == 562_818
    assert count("cnp", dim_x=1, hidden_layers=5) == 165_890
    assert count("inctnp-seq", dim_x=20) == 1_061_250
    assert count("inctnp-seq", dim_x=4, grids=((1.0,) * 16,) * 4) == 1_075_074


def test_a_point_of_the_papers_model_is_ten_kilobytes() -> None:
    model = inctnp.build(ModelConfig(name="inctnp", dim_x=1))
    assert model.bytes_per_point() == 4 * 5 * 128 * 4
    assert model.bytes_per_point("bfloat16") == model.bytes_per_point() // 2
    assert model.bytes_per_point("int8") == 4 * 5 * (128 + 8 * 2)
    assert math.isclose(model.bytes_per_point() / 1024, 10)
