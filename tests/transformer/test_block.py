"""One block against the formulas of the paper, written out."""

import pytest
import torch
import torch.nn.functional as F

from inctnp.errors import ConfigError
from inctnp.transformer.block import AttentionBlock, BlockConfig, Blocks


def test_a_block_is_pre_norm_attention_and_a_pre_norm_mlp() -> None:
    block = AttentionBlock(BlockConfig(width=16, heads=2, feedforward=24)).double()
    target, context = torch.randn(3, 4, 16).double(), torch.randn(3, 7, 16).double()
    answer = block.mix(target, block.queries(target, 1), [block.keys_values(context, 1)], None)

    q_weight, k_weight, v_weight = block.project.weight.split(16)
    q = (block.norm1(target) @ q_weight.T).view(3, 4, 2, 8).transpose(1, 2)
    k, v = ((block.norm1(context) @ w.T).view(3, 7, 2, 8).transpose(1, 2) for w in (k_weight, v_weight))
    heard = (torch.softmax(q @ k.mT * 8**-0.5, dim=-1) @ v).transpose(1, 2).reshape(3, 4, 16)
    expected = target + heard @ block.out.weight.T + block.out.bias
    hidden = F.relu(block.norm2(expected) @ block.up.weight.T + block.up.bias)
    expected = expected + hidden @ block.down.weight.T + block.down.bias
    torch.testing.assert_close(answer, expected, rtol=0, atol=1e-12)


def test_reading_once_is_reading_queries_and_keys_apart() -> None:
    block = AttentionBlock(BlockConfig(width=16, heads=2)).double()
    tokens = torch.randn(6, 4, 16).double()
    queries, rows = block.read(tokens, 3)
    torch.testing.assert_close(queries, block.queries(tokens, 3), rtol=0, atol=1e-13)
    torch.testing.assert_close(rows, block.keys_values(tokens, 3), rtol=0, atol=1e-13)
    assert queries.shape == (2, 2, 3, 4, 8) and rows.shape == (2, 2, 2, 3, 4, 8)


def test_blocks_start_with_weights_of_their_own() -> None:
    first, second = Blocks(BlockConfig(width=16, heads=2), 2)
    assert not torch.equal(first.project.weight, second.project.weight)


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ConfigError, match="width 16 must be a multiple of heads 3"):
        BlockConfig(width=16, heads=3)
