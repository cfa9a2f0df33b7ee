"""Tokens: what the network is shown of a point."""

import torch

from inctnp.tokens.embed import PointEmbedder
from inctnp.tokens.fourier import FourierFeatures


def shown(embedder: PointEmbedder) -> list[torch.Tensor]:
    inputs: list[torch.Tensor] = []
    embedder.net.register_forward_pre_hook(lambda _, args: inputs.append(args[0]))
    return inputs


def test_a_seen_point_is_x_y_0_and_an_asked_one_is_x_0_1() -> None:
    embedder = PointEmbedder(2, 3, 8)
    inputs, x, y = shown(embedder), torch.randn(1, 4, 2), torch.randn(1, 4, 3)
    embedder.seen(x, y)
    embedder.asked(x)
    embedder.seen(x, y, flag=1.0)
    embedder.asked(x, flag=0.0)
    zeros, ones, no_y = torch.zeros(1, 4, 1), torch.ones(1, 4, 1), torch.zeros(1, 4, 3)
    expected = [(x, y, zeros), (x, no_y, ones), (x, y, ones), (x, no_y, zeros)]
    for seen, parts in zip(inputs, expected, strict=True):
        assert torch.equal(seen, torch.cat(parts, dim=-1))


def test_the_two_kinds_of_point_share_one_network_of_two_hidden_layers() -> None:
    embedder = PointEmbedder(2, 1, 8)
    shapes = [tuple(p.shape) for p in embedder.parameters()]
    assert shapes == [(8, 4), (8,), (8, 8), (8,), (8, 8), (8,)]


def test_features_replace_the_inputs() -> None:
    fourier = FourierFeatures([(1.0, 2.0)])
    embedder = PointEmbedder(1, 1, 8, fourier)
    inputs, x = shown(embedder), torch.randn(2, 3, 1)
    embedder.asked(x)
    assert torch.equal(inputs[0][..., :4], fourier(x)) and inputs[0].shape[-1] == 6
