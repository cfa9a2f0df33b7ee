"""TNP-A: cached, it is the published model run over one long sequence."""

import pytest
import torch

from inctnp.testing.checks import assert_same
from inctnp.testing.toy import toy_model, toy_points

MODEL = toy_model("tnp-a", dim_y=2)


@pytest.mark.parametrize("targets", [1, 2, 7])
@torch.no_grad()
def test_the_cached_form_is_the_published_one(targets: int) -> None:
    x, y = toy_points(MODEL, 6, batch=(2,))
    xt, yt = toy_points(MODEL, targets, seed=1, batch=(2,))
    context = MODEL.extend(MODEL.empty(2), x, y)
    assert_same(MODEL.conditionals(context, xt, yt), MODEL.query_published(context, xt, yt), f"{targets} targets")


@torch.no_grad()
def test_the_published_form_is_a_plain_loop_over_tokens() -> None:
    """Each query token alone, with only the tokens it may look at in the sequence: no mask at all."""
    x, y = toy_points(MODEL, 4)
    xt, yt = toy_points(MODEL, 3, seed=1)
    answer = MODEL.query_published(MODEL.extend(MODEL.empty(), x, y), xt, yt)
    context = MODEL.embed.seen(x[None], y[None], 0.0)
    for i in range(3):
        pieces_by_layer = []
        # Context tokens see the context; observed target j the context and observed 0 … j.
        tokens, observed = context, [MODEL.embed.seen(xt[None, j : j + 1], yt[None, j : j + 1], 1.0) for j in range(i)]
        for block in MODEL.stack.self_blocks:
            base = block.keys_values(tokens, 1)
            kept = [block.keys_values(token, 1) for token in observed]
            pieces_by_layer.append([base, *kept])
            tokens = block.mix(tokens, block.queries(tokens, 1), [base], None)
            observed = [
                block.mix(token, block.queries(token, 1), [base, *kept[: j + 1]], None)
                for j, token in enumerate(observed)
            ]
        query = MODEL.embed.asked(xt[None, i : i + 1], 0.0)
        for block, pieces in zip(MODEL.stack.self_blocks, pieces_by_layer, strict=True):
            query = block.mix(query, block.queries(query, 1), pieces, None)
        alone = MODEL.decoder(query[0])
        assert_same(answer.reshape(lambda t, i=i: t[i : i + 1]), alone, f"query {i}")


@torch.no_grad()
def test_all_draws_share_one_encoding_of_the_context() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    x, y = toy_points(MODEL, 200)
    xt, _ = toy_points(MODEL, 4, seed=1)
    flops = {}
    for draws in (1, 2, 3):
        context = MODEL.extend(MODEL.empty(), x, y)
        with FlopCounterMode(display=False) as counter:
            MODEL.joint_sample(context, xt, draws)
        flops[draws] = counter.get_total_flops()
    assert flops[3] - flops[2] == flops[2] - flops[1] < flops[1] / 10


@torch.no_grad()
def test_without_observed_targets_a_query_is_the_first_step() -> None:
    x, y = toy_points(MODEL, 5)
    xt, yt = toy_points(MODEL, 3, seed=1)
    context = MODEL.extend(MODEL.empty(), x, y)
    first = MODEL.conditionals(context, xt, yt).reshape(lambda t: t[:1])
    assert_same(MODEL.query(context, xt[:1]), first, "the first target")
