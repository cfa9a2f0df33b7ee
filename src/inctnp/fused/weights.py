"""The weights of an incremental model as compiled code reads them: float32 arrays, inputs by outputs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from inctnp.models.inc_tnp import IncTNP

Array = Any


class Weights(NamedTuple):
    """Stacked over layers: first those of the cross-attention, then the self-attention's, as the cache counts them."""

    embed: Array
    """[inputs, width]: of x, y and the flag."""
    embed_bias: Array
    embed_hidden: Array
    """[2, width, width]"""
    embed_hidden_bias: Array
    norms: Array
    """[block, 4, width]: scale and shift before the attention, scale and shift before the MLP."""
    query: Array
    """[block, width, width]"""
    keys_values: Array
    """[block, width, 2 · width]"""
    out: Array
    out_bias: Array
    up: Array
    up_bias: Array
    down: Array
    down_bias: Array
    decode_hidden: Array
    """[2, width, width]"""
    decode_hidden_bias: Array
    decode: Array
    """[width, numbers read off a token]"""
    decode_bias: Array
    sizes: Array
    """Layers, outputs of a point, components of the head, each an int64."""
    std_min: Array


def pack(model: IncTNP) -> Weights:
    """Copy a model's weights; later changes of the model do not reach the copy."""
    blocks = [*model.stack.cross_blocks, *model.stack.self_blocks]
    width = model.config.width
    embed, decode = _linears(model.embed.net), _linears(model.decoder.net)
    return Weights(
        embed=_matrix(embed[0].weight),
        embed_bias=_array(embed[0].bias),
        embed_hidden=np.stack([_matrix(linear.weight) for linear in embed[1:]]),
        embed_hidden_bias=np.stack([_array(linear.bias) for linear in embed[1:]]),
        norms=np.stack([[_array(part) for norm in (b.norm1, b.norm2) for part in norm.parameters()] for b in blocks]),
        query=np.stack([_matrix(block.project.weight[:width]) for block in blocks]),
        keys_values=np.stack([_matrix(block.project.weight[width:]) for block in blocks]),
        out=np.stack([_matrix(block.out.weight) for block in blocks]),
        out_bias=np.stack([_array(block.out.bias) for block in blocks]),
        up=np.stack([_matrix(block.up.weight) for block in blocks]),
        up_bias=np.stack([_array(block.up.bias) for block in blocks]),
        down=np.stack([_matrix(block.down.weight) for block in blocks]),
        down_bias=np.stack([_array(block.down.bias) for block in blocks]),
        decode_hidden=np.stack([_matrix(linear.weight) for linear in decode[:-1]]),
        decode_hidden_bias=np.stack([_array(linear.bias) for linear in decode[:-1]]),
        decode=_matrix(decode[-1].weight),
        decode_bias=_array(decode[-1].bias),
        sizes=np.array([model.stack.layers, model.config.dim_y, model.config.components]),
        std_min=np.array([model.config.std_min], dtype=np.float32),
    )


def _linears(network: nn.Sequential) -> Sequence[nn.Linear]:
    return [part for part in network if isinstance(part, nn.Linear)]


def _array(parameter: Tensor) -> Array:
    return parameter.detach().numpy().copy()


def _matrix(weight: Tensor) -> Array:
    return np.ascontiguousarray(weight.detach().numpy().T)
