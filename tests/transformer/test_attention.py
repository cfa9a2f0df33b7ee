"""Attention against a loop over queries and keys, whichever way it is computed."""

import math

import pytest
import torch
from torch import Tensor

from inctnp.transformer import attention
from inctnp.transformer.attention import attend
from inctnp.transformer.masks import causal_mask, strictly_before

BATCH, HEADS, DEPTH = 2, 3, 4


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def pieces_of(*lengths_and_draws: tuple[int, int]) -> list[Tensor]:
    return [
        randn(2, BATCH, HEADS, draws, length, DEPTH, seed=i + 1) for i, (length, draws) in enumerate(lengths_and_draws)
    ]


def by_hand(query: Tensor, pieces: list[Tensor], may_see: Tensor | None) -> Tensor:
    """One softmax per query in plain Python loops over the exponentials."""
    draws, queries = query.shape[2:4]
    rows = torch.cat([piece.expand(-1, -1, -1, draws, -1, -1) for piece in pieces], dim=-2)
    keys = rows.shape[-2]
    answer = torch.empty_like(query)
    for b in range(BATCH):
        for h in range(HEADS):
            for d in range(draws):
                for i in range(queries):
                    total, mixed = 0.0, torch.zeros(DEPTH, dtype=torch.float64)
                    for k in range(keys):
                        newest = k - (keys - (may_see.shape[1] if may_see is not None else 0))
                        if may_see is not None and newest >= 0 and not may_see[i, newest]:
                            continue
                        dot = float(query[b, h, d, i] @ rows[0, b, h, d, k])
                        weight = math.exp(dot / math.sqrt(DEPTH))
                        total, mixed = total + weight, mixed + weight * rows[1, b, h, d, k]
                    answer[b, h, d, i] = mixed / total
    return answer


CASES = {
    "one query, one piece": (1, [(7, 1)], None),
    "several queries": (5, [(7, 1)], None),
    "a chunk behind a past": (4, [(9, 1)], causal_mask(4, 4)),
    "a chunk that is everything": (4, [(4, 1)], causal_mask(4, 4)),
    "two pieces": (3, [(6, 1), (3, 1)], causal_mask(3, 3)),
    "targets strictly after their overlay": (4, [(5, 1), (3, 1)], strictly_before(4, 3)),
    "three pieces": (1, [(6, 1), (1, 1), (2, 1)], None),
}


@pytest.mark.parametrize("case", CASES)
def test_attention_is_one_softmax_over_all_pieces(case: str) -> None:
    queries, lengths, may_see = CASES[case]
    query, pieces = randn(BATCH, HEADS, 1, queries, DEPTH), pieces_of(*lengths)
    torch.testing.assert_close(attend(query, pieces, may_see), by_hand(query, pieces, may_see), rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", [case for case, (_, lengths, _) in CASES.items() if len(lengths) == 1])
def test_the_gradient_is_that_of_numerical_differences(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "TOGETHER", 2)
    queries, lengths, may_see = CASES[case]
    query, rows = randn(BATCH, HEADS, 1, queries, DEPTH).requires_grad_(), pieces_of(*lengths)[0].requires_grad_()
    assert torch.autograd.gradcheck(lambda q, r: attend(q, [r], may_see), (query, rows))


def test_draws_share_a_past_and_keep_their_own_rows() -> None:
    query, pieces = randn(BATCH, HEADS, 3, 2, DEPTH), pieces_of((5, 1), (4, 3))
    torch.testing.assert_close(attend(query, pieces), by_hand(query, pieces, None), rtol=0, atol=1e-12)


def test_draws_without_rows_of_their_own_read_one_past() -> None:
    query, pieces = randn(BATCH, HEADS, 3, 1, DEPTH), pieces_of((5, 1))
    torch.testing.assert_close(attend(query, pieces), by_hand(query, pieces, None), rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_the_fused_kernel_agrees_in_float64(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "FUSED_FROM", 1)
    queries, lengths, may_see = CASES[case]
    query, pieces = randn(BATCH, HEADS, 1, queries, DEPTH), pieces_of(*lengths)
    torch.testing.assert_close(attend(query, pieces, may_see), by_hand(query, pieces, may_see), rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_a_question_answered_in_parts_is_the_same(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "MOST_SCORES", 1)
    queries, lengths, may_see = CASES[case]
    query, pieces = randn(BATCH, HEADS, 1, queries, DEPTH), pieces_of(*lengths)
    torch.testing.assert_close(attend(query, pieces, may_see), by_hand(query, pieces, may_see), rtol=0, atol=1e-12)


def test_scores_too_large_for_an_exponential_do_not_overflow() -> None:
    query, pieces = 1e3 * randn(BATCH, HEADS, 1, 2, DEPTH), [1e3 * pieces_of((7, 1))[0]]
    assert torch.isfinite(attend(query, pieces)).all()


def test_no_queries_are_no_answers() -> None:
    assert attend(randn(BATCH, HEADS, 1, 0, DEPTH), pieces_of((7, 1))).shape == (BATCH, HEADS, 1, 0, DEPTH)
