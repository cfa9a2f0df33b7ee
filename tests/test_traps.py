"""One test for every trap that was found in the published code."""

import math
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

from inctnp.errors import EmptyContextError
from inctnp.models.config import NAMES
from inctnp.predictive.gaussian import Decoder
from inctnp.seeding import generator
from inctnp.testing.checks import assert_close, assert_same
from inctnp.testing.toy import toy_model, toy_points
from inctnp.training import recipes
from inctnp.transformer import attention
from inctnp.transformer.masks import causal_mask


def test_pytorchs_own_causal_flag_is_the_wrong_one_for_a_chunk_behind_a_cache_and_ours_is_not() -> None:
    query, rows = torch.randn(1, 1, 1, 3, 4).double(), torch.randn(2, 1, 1, 1, 8, 4).double()
    ours = attention.attend(query, [rows], causal_mask(3, 3))
    top_left = F.scaled_dot_product_attention(query[0], rows[0, 0], rows[1, 0], is_causal=True)
    assert (ours[0] - top_left).abs().max() > 0.01
    for i in range(3):
        seen = rows[..., : 6 + i, :]
        weights = torch.softmax(query[0, 0, 0, i] @ seen[0, 0, 0, 0].T / 2, -1)
        assert_close(ours[0, 0, 0, i], weights @ seen[1, 0, 0, 0], f"row {i} of the chunk")


@pytest.mark.parametrize("name", NAMES)
def test_a_second_question_gets_the_same_answer(name: str) -> None:
    model = toy_model(name)
    x, y = toy_points(model, 4)
    context = model.extend(model.empty(), x, y)
    before = model.query(context, x)
    model.query(context, x[:1])
    assert_same(model.query(context, x), before, "asked twice")
    assert_same(model.query(model.extend(context, x[:0], y[:0]), x), before, "asked after adding nothing")


@pytest.mark.parametrize("name", NAMES)
def test_draws_of_batch_elements_never_mix(name: str) -> None:
    """Two tasks of one batch whose outcomes lie far apart, and a batch as large as the number of draws."""
    model = toy_model(name, components=1)
    with torch.no_grad():
        for part in ("decoder.net.4.bias", "decoder.net.4.weight"):
            if part in dict(model.named_parameters()):
                model.get_parameter(part)[1:] = -40.0 if "bias" in part else 0.0
    model.decoder.std_min = 0.01
    x, y = toy_points(model, 5, batch=(3,))
    xt, _ = toy_points(model, 4, seed=1, batch=(3,))
    draws = model.joint_sample(model.extend(model.empty(3), x, y), xt, 3).draws
    for task in range(3):
        context = model.extend(model.empty(), x[task], y[task])
        for draw in range(3):
            own = model.conditionals(context, xt[task], draws[draw, task])
            assert ((draws[draw, task] - own.mean).abs() < 8 * own.stddev).all()


def test_softplus_that_underflows_gives_neither_a_zero_deviation_nor_a_nan_gradient() -> None:
    raw = torch.tensor([[0.0, -200.0]], requires_grad=True)
    naive = F.softplus(raw[:, 1:]).sqrt()
    assert naive.item() == 0.0  # the trap
    p = Decoder(torch.nn.Sequential(torch.nn.Identity()), 1, 1, 0.0)(raw)
    p.log_prob(torch.ones(1, 1)).sum().backward()
    assert p.stddev.item() > 0 and torch.isfinite(raw.grad).all()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "inctnp-prior"])
def test_an_empty_context_is_not_silently_accepted(name: str) -> None:
    model = toy_model(name)
    with pytest.raises(EmptyContextError):
        model.query(model.empty(), torch.zeros(1, 2).double())


def test_float64_questions_under_a_mask_are_answered_in_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    query, rows = torch.randn(1, 2, 1, 40, 4).double(), torch.randn(2, 1, 2, 1, 40, 4).double()
    scores = (query[:, :, 0] @ rows[0, :, :, 0].mT / 2).masked_fill(~causal_mask(40, 40), -math.inf)
    exact = torch.softmax(scores, -1) @ rows[1, :, :, 0]
    for fused_from in (1, 1 << 30):
        monkeypatch.setattr(attention, "FUSED_FROM", fused_from)
        answer = attention.attend(query, [rows], causal_mask(40, 40))
        assert answer.dtype == torch.float64
        assert (answer[:, :, 0] - exact).abs().max() < 1e-13


def test_a_change_of_type_does_not_reach_the_fourier_wavelengths() -> None:
    model = toy_model("inctnp", dim_x=1, grids=((0.1, 3.7, 8760.0),))
    for change in (torch.nn.Module.bfloat16, torch.nn.Module.half, torch.nn.Module.float, torch.nn.Module.double):
        change(model)
        assert model.embed.fourier.grids[0].tolist() == [0.1, 3.7, 8760.0]


def test_one_model_serves_many_streams() -> None:
    model = toy_model("inctnp")
    x, y = toy_points(model, 12)
    streams = [model.stream() for _ in range(3)]
    for i in range(12):
        streams[i % 3].observe(x[i], y[i])
    for number, stream in enumerate(streams):
        alone = model.stream()
        alone.observe(x[number::3], y[number::3])
        assert_same(stream.predict(x), alone.predict(x), f"stream {number}")
    assert not list(model.buffers())


def test_a_cache_in_a_stream_accumulates_no_graph() -> None:
    model = toy_model("inctnp")
    assert any(p.requires_grad for p in model.parameters()) and torch.is_grad_enabled()
    x, y = toy_points(model, 5)
    stream = model.stream()
    for i in range(5):
        stream.observe(x[i].requires_grad_(False), y[i])
    for view in stream._memory.context.cache.views:
        for packed in view.block.slots:
            assert all(part.grad_fn is None and not part.requires_grad for part in packed)


def test_random_numbers_are_a_function_of_seed_and_name_in_every_process() -> None:
    """Strings hash differently in every process, and nothing may depend on that."""
    program = "from inctnp.seeding import generator; print(generator(3, 'a', 7).initial_seed())"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert int(answer) == generator(3, "a", 7).initial_seed()


@pytest.mark.parametrize("setting", ["rbf-64", "tabular"])
def test_validation_tasks_are_neither_training_nor_test_tasks(setting: str) -> None:
    for variant in ("fast", "paper"):
        recipe = recipes.recipe(setting, "inctnp-seq", variant)
        training = {phase.data.seed for phase in recipe.phases}
        assert recipe.validation.seed == recipes.VALIDATION_SEED
        assert not {recipes.VALIDATION_SEED, recipes.TEST_SEED} & training
    assert recipes.VALIDATION_SEED != recipes.TEST_SEED
