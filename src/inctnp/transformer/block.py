"""One transformer block: pre-norm attention and a pre-norm MLP, each behind a residual.  (Eq. 12, 15)"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool
from torch import Tensor, nn

from inctnp.errors import ConfigError
from inctnp.notation import Rows, Tokens
from inctnp.transformer.attention import attend


@dataclass(frozen=True, kw_only=True)
class BlockConfig:
    """Sizes of one block; the defaults are the paper's."""

    width: int = 128
    """Size of every token, D_z."""
    heads: int = 8
    feedforward: int = 128
    """Hidden width of the MLP: 128, not the usual four times the token."""

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ConfigError(f"width {self.width} must be a multiple of heads {self.heads}.")

    @property
    def depth(self) -> int:
        """Width of one head."""
        return self.width // self.heads


class AttentionBlock(nn.Module):
    """Attention from some tokens to keys and values, then an MLP; the same weights normalise both sides."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        width = config.width
        self.heads, self.width = config.heads, width
        self.norm1 = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width, bias=False)
        """Query, key and value in one product; feature h·depth + d belongs to head h."""
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, config.feedforward)
        self.down = nn.Linear(config.feedforward, width)

    def read(self, tokens: Tokens, draws: int) -> tuple[Tensor, Rows]:
        """Queries of these tokens, and their own keys and values."""
        queries, keys_values = self.project(self.norm1(tokens)).split((self.width, 2 * self.width), dim=-1)
        return self._heads(queries, draws), self._pairs(keys_values, draws)

    def queries(self, tokens: Tokens, draws: int) -> Tensor:
        return self._heads(F.linear(self.norm1(tokens), self.project.weight[: self.width]), draws)

    def keys_values(self, tokens: Tokens, draws: int) -> Rows:
        return self._pairs(F.linear(self.norm1(tokens), self.project.weight[self.width :]), draws)

    def mix(
        self, tokens: Tokens, queries: Tensor, pieces: Sequence[Rows], may_see: Bool[Tensor, "query newest"] | None
    ) -> Tokens:
        """The two residual updates, given what to attend to."""
        heard = attend(queries, pieces, may_see).permute(0, 2, 3, 1, 4).reshape(tokens.shape)
        tokens = tokens + self.out(heard)
        return tokens + self.down(torch.relu(self.up(self.norm2(tokens))))

    def _heads(self, projected: Tensor, draws: int) -> Tensor:
        """[batch·draw, point, width] to [batch, head, draw, point, depth]."""
        batch_draw, points, width = projected.shape
        shape = (batch_draw // draws, draws, points, self.heads, width // self.heads)
        return projected.reshape(shape).permute(0, 3, 1, 2, 4)

    def _pairs(self, projected: Tensor, draws: int) -> Rows:
        """[batch·draw, point, 2·width] to [2, batch, head, draw, point, depth]."""
        batch_draw, points, both = projected.shape
        shape = (batch_draw // draws, draws, points, 2, self.heads, both // (2 * self.heads))
        return projected.reshape(shape).permute(3, 0, 4, 1, 2, 5)


class Blocks(nn.ModuleList):
    """So many blocks, each with weights of its own."""

    def __init__(self, config: BlockConfig, layers: int) -> None:
        super().__init__(AttentionBlock(config) for _ in range(layers))

    def __iter__(self) -> Iterator[AttentionBlock]:
        return cast(Iterator[AttentionBlock], super().__iter__())
