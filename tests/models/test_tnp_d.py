"""TNP-D and LBANP: encode once, answer often; against the networks written with nothing but matrix products."""

import pytest
import torch
from torch import Tensor

from inctnp.testing.checks import assert_close
from inctnp.testing.toy import toy_model, toy_points
from inctnp.transformer.block import AttentionBlock


def plain_block(block: AttentionBlock, tokens: Tensor, others: Tensor) -> Tensor:
    heads, width = block.heads, tokens.shape[-1]
    wq, wk, wv = block.project.weight.split(width)
    q, k, v = (
        (block.norm1(t) @ w.T).unflatten(-1, (heads, -1)).transpose(-2, -3)
        for t, w in ((tokens, wq), (others, wk), (others, wv))
    )
    mixed = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v
    tokens = tokens + block.out(mixed.transpose(-2, -3).flatten(-2))
    return tokens + block.down(torch.relu(block.up(block.norm2(tokens))))


@torch.no_grad()
def test_tnp_d_is_a_self_layer_and_then_a_cross_layer_on_its_output() -> None:
    model = toy_model("tnp-d")
    x, y = toy_points(model, 5)
    xt, _ = toy_points(model, 3, seed=1)
    context, targets = model.embed.seen(x[None], y[None]), model.embed.asked(xt[None])
    for attend_self, attend_cross in zip(model.stack.self_blocks, model.stack.cross_blocks, strict=True):
        context = plain_block(attend_self, context, context)
        targets = plain_block(attend_cross, targets, context)
    answer = model.query(model.extend(model.empty(), x, y), xt)
    assert_close(answer.mean, model.decoder(targets[0]).mean, "TNP-D by hand")


@torch.no_grad()
def test_lbanp_latents_read_the_embedded_context_think_and_are_read() -> None:
    model = toy_model("lbanp")
    x, y = toy_points(model, 5)
    xt, _ = toy_points(model, 3, seed=1)
    context, targets, latents = (
        model.embed.seen(x[None], y[None]),
        model.embed.asked(xt[None]),
        model.stack.latents[None],
    )
    stack = model.stack
    for gather, think, cross in zip(stack.gather_blocks, stack.self_blocks, stack.cross_blocks, strict=True):
        latents = plain_block(gather, latents, context)
        latents = plain_block(think, latents, latents)
        targets = plain_block(cross, targets, latents)
    answer = model.query(model.extend(model.empty(), x, y), xt)
    assert_close(answer.mean, model.decoder(targets[0]).mean, "LBANP by hand")


@pytest.mark.parametrize("name", ["tnp-d", "lbanp", "tnp-a"])
@torch.no_grad()
def test_a_context_is_encoded_once_for_many_questions(name: str) -> None:
    model = toy_model(name)
    x, y = toy_points(model, 5)
    calls = []
    encode = model.stack.encode
    model.stack.encode = lambda tokens: calls.append(1) or encode(tokens)
    context = model.extend(model.empty(), x, y)
    for _ in range(3):
        model.query(context, x)
    assert len(calls) == 1
    model.query(model.extend(context, x[:1], y[:1]), x)
    assert len(calls) == 2


def test_with_gradients_every_question_has_a_graph_of_its_own() -> None:
    model = toy_model("tnp-d")
    x, y = toy_points(model, 5)
    context = model.extend(model.empty(), x, y)
    with torch.no_grad():
        model.query(context, x)
    for _ in range(2):
        model.zero_grad()
        model.query(context, x).mean.sum().backward()
        assert model.embed.net[0].weight.grad is not None
