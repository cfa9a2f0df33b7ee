"""One stack of self-attention over context, observed targets and queried targets: TNP-A."""

from jaxtyping import Bool
from torch import Tensor, nn

from inctnp.notation import Tokens
from inctnp.transformer.block import BlockConfig, Blocks
from inctnp.transformer.cache import Append, Cache


class JointStack(nn.Module):
    """Self-attention blocks in which queried tokens look but are never looked at."""

    def __init__(self, config: BlockConfig, layers: int) -> None:
        super().__init__()
        self.self_blocks = Blocks(config, layers)

    @property
    def slots(self) -> int:
        return len(self.self_blocks)

    def forward(
        self,
        append: Append,
        seen: Tokens,
        queried: Tokens | None,
        sees_seen: Bool[Tensor, "new new"] | None,
        sees_queried: Bool[Tensor, "target new"] | None,
    ) -> Tokens | None:
        """Append seen tokens and, in the same pass, let queried ones look at them and at the past."""
        for layer, block in enumerate(self.self_blocks):
            queries, rows = block.read(seen, append.draws)
            append.write(layer, rows)
            pieces = append.pieces(layer, seen.dtype)
            seen = block.mix(seen, queries, pieces, sees_seen)
            if queried is not None:
                queried = block.mix(queried, block.queries(queried, append.draws), pieces, sees_queried)
        return queried

    def encode(self, context: Tokens) -> Cache:
        """Every context row sees every other."""
        append = Cache(slots=self.slots).append(context.shape[1])
        self(append, context, None, None, None)
        return append.done()

    def query(self, cache: Cache, queried: Tokens) -> Tokens:
        """Let queried tokens look at what the cache holds."""
        for layer, block in enumerate(self.self_blocks):
            pieces = cache.pieces(layer, queried.dtype)
            queried = block.mix(queried, block.queries(queried, cache.draws), pieces, None)
        return queried

    def one_sequence(self, tokens: Tokens, may_see: Bool[Tensor, "row row"]) -> Tokens:
        """The published form: every row through every layer under one mask, nothing kept."""
        for block in self.self_blocks:
            queries, rows = block.read(tokens, 1)
            tokens = block.mix(tokens, queries, [rows], may_see)
        return tokens
