"""Masks, row by row in words."""

import pytest
import torch

from inctnp.transformer.masks import causal_mask, one_sequence_mask, strictly_before


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (1, 7), (3, 3), (4, 9)])
def test_the_newest_queries_see_every_key_up_to_their_own(queries: int, keys: int) -> None:
    mask = causal_mask(queries, keys)
    for i in range(queries):
        own = keys - queries + i
        assert mask[i].tolist() == [key <= own for key in range(keys)]


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (4, 3), (3, 3)])
def test_a_target_sees_the_points_before_it_only(queries: int, keys: int) -> None:
    mask = strictly_before(queries, keys)
    for i in range(queries):
        assert mask[i].tolist() == [key < i for key in range(keys)]


def test_the_published_one_sequence_mask_says_who_sees_whom() -> None:
    context, targets = 3, 4
    mask = one_sequence_mask(context, targets)
    kinds = [("context", i) for i in range(context)]
    kinds += [("observed", i) for i in range(targets)] + [("queried", i) for i in range(targets)]
    for row, (who, i) in enumerate(kinds):
        for column, (whom, j) in enumerate(kinds):
            observed_before = whom == "observed" and ((who == "observed" and j <= i) or (who == "queried" and j < i))
            assert bool(mask[row, column]) == (whom == "context" or observed_before)


def test_masks_are_boolean_so_no_dtype_can_disagree_with_the_query() -> None:
    assert {causal_mask(2, 3).dtype, strictly_before(2, 2).dtype, one_sequence_mask(1, 1).dtype} == {torch.bool}
