"""Context tokens attend to each other and targets attend to the context, layer by layer.  (Eq. 3-4, 16-19)

The one code path of TNP-D and of every incremental model, in training, in batches and in streams: what differs is
the mask and whether the cache was empty.
"""

from jaxtyping import Bool
from torch import Tensor, nn

from inctnp.notation import Tokens
from inctnp.transformer.block import BlockConfig, Blocks
from inctnp.transformer.cache import Append, Cache


class InterleavedStack(nn.Module):
    """L pairs of a self-attention block (context) and a cross-attention block (targets to context)."""

    def __init__(self, config: BlockConfig, layers: int) -> None:
        super().__init__()
        self.self_blocks = Blocks(config, layers)
        self.cross_blocks = Blocks(config, layers)

    @property
    def layers(self) -> int:
        return len(self.self_blocks)

    @property
    def slots(self) -> int:
        """Attentions with keys and values: those of the cross-attention first, then the self-attention's."""
        return 2 * self.layers

    def forward(
        self,
        append: Append,
        context: Tokens,
        targets: Tokens | None,
        sees_context: Bool[Tensor, "new new"] | None,
        sees_targets: Bool[Tensor, "target new"] | None,
    ) -> Tokens | None:
        """Append context tokens and, in the same pass, let targets look at the past and the new context."""
        draws, dtype = append.draws, context.dtype
        for layer, (attend_self, attend_cross) in enumerate(zip(self.self_blocks, self.cross_blocks, strict=True)):
            slot = self.layers + layer
            queries, rows = attend_self.read(context, draws)
            append.write(slot, rows)
            context = attend_self.mix(context, queries, append.pieces(slot, dtype), sees_context)
            append.write(layer, attend_cross.keys_values(context, draws))
            if targets is not None:
                queries = attend_cross.queries(targets, draws)
                targets = attend_cross.mix(targets, queries, append.pieces(layer, dtype), sees_targets)
        return targets

    def encode(self, context: Tokens) -> Cache:
        """Everybody sees everybody: TNP-D's encoding, kept as what targets will look at."""
        append = Cache(slots=self.layers).append(context.shape[1])
        for layer, (attend_self, attend_cross) in enumerate(zip(self.self_blocks, self.cross_blocks, strict=True)):
            queries, rows = attend_self.read(context, 1)
            context = attend_self.mix(context, queries, [rows], None)
            append.write(layer, attend_cross.keys_values(context, 1))
        return append.done()

    def query(self, cache: Cache, targets: Tokens) -> Tokens:
        """Let targets look at what is held; keys and values were projected when it arrived."""
        for layer, block in enumerate(self.cross_blocks):
            pieces = cache.pieces(layer, targets.dtype)
            targets = block.mix(targets, block.queries(targets, cache.draws), pieces, None)
        return targets
