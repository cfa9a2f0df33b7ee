"""Who may see whom: True where a query may look at a key.  (Eq. 14)"""

import torch
from jaxtyping import Bool
from torch import Tensor


def causal_mask(queries: int, keys: int) -> Bool[Tensor, "{queries} {keys}"]:
    """Let each query see every key up to its own position.

    Queries are the newest rows of the key sequence, so the triangle hangs from the bottom
    right. PyTorch's `is_causal=True` hangs it from the top left, hiding the cache.

    >>> causal_mask(queries=2, keys=4).int().tolist()
    [[1, 1, 1, 0], [1, 1, 1, 1]]
    """
    return torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)


def strictly_before(queries: int, keys: int) -> Bool[Tensor, "{queries} {keys}"]:
    """Let query i see the keys of points 0 … i-1 only: it must predict point i without seeing it.

    >>> strictly_before(queries=3, keys=2).int().tolist()
    [[0, 0], [1, 0], [1, 1]]
    """
    return torch.ones(queries, keys, dtype=torch.bool).tril(-1)


def one_sequence_mask(context: int, targets: int) -> Bool[Tensor, "row row"]:
    """The published TNP-A mask over [context | observed targets | queried targets].

    Everybody sees the whole context; observed target i sees the observed ones up to i, queried target i
    those strictly before i, and nobody sees a query, not even itself.

    >>> one_sequence_mask(context=1, targets=2).int().tolist()
    [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [1, 1, 0, 0, 0]]
    """
    may_see = torch.zeros(context + 2 * targets, context + 2 * targets, dtype=torch.bool)
    observed = slice(context, context + targets)
    may_see[:, :context] = True
    may_see[observed, observed] = causal_mask(targets, targets)
    may_see[context + targets :, observed] = strictly_before(targets, targets)
    return may_see
