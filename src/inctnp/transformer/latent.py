"""A bottleneck: latents read the context, think, and are read by the targets.  (Eq. 13)"""

import torch
from torch import nn

from inctnp.notation import Tokens
from inctnp.transformer.block import BlockConfig, Blocks
from inctnp.transformer.cache import Cache


class LatentStack(nn.Module):
    """The perceiver-style encoder of LBANP; targets never see the context itself."""

    def __init__(self, config: BlockConfig, layers: int, latents: int) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.randn(latents, config.width))
        self.gather_blocks = Blocks(config, layers)
        self.self_blocks = Blocks(config, layers)
        self.cross_blocks = Blocks(config, layers)

    def encode(self, context: Tokens) -> Cache:
        """What targets will attend to: one set of latents per layer, already projected."""
        latents = self.latents.to(context.dtype).expand(len(context), -1, -1)
        append = Cache(slots=len(self.cross_blocks)).append(latents.shape[1])
        blocks = zip(self.gather_blocks, self.self_blocks, self.cross_blocks, strict=True)
        for layer, (gather, think, cross) in enumerate(blocks):
            latents = gather.mix(latents, gather.queries(latents, 1), [gather.keys_values(context, 1)], None)
            queries, rows = think.read(latents, 1)
            latents = think.mix(latents, queries, [rows], None)
            append.write(layer, cross.keys_values(latents, 1))
        return append.done()

    def query(self, encoded: Cache, targets: Tokens) -> Tokens:
        """Let targets look at the latents of each layer."""
        for layer, block in enumerate(self.cross_blocks):
            targets = block.mix(targets, block.queries(targets, 1), encoded.pieces(layer, targets.dtype), None)
        return targets
