"""From settings to a model."""

from inctnp.models.base import NeuralProcess
from inctnp.models.cnp import CNP
from inctnp.models.config import ModelConfig
from inctnp.models.inc_tnp import IncTNP
from inctnp.models.tnp_a import TNPA
from inctnp.models.tnp_d import TNPD
from inctnp.transformer.interleaved import InterleavedStack
from inctnp.transformer.latent import LatentStack


def build(config: ModelConfig) -> NeuralProcess:
    """The model these settings describe, with fresh weights.

    >>> sum(p.numel() for p in build(ModelConfig(name="inctnp-seq", dim_x=1)).parameters())
    1058818
    """
    match config.name:
        case "cnp":
            return CNP(config)
        case "tnp-d":
            return TNPD(config, InterleavedStack(config, config.layers))
        case "lbanp":
            return TNPD(config, LatentStack(config, config.layers, config.latents))
        case "tnp-a":
            return TNPA(config)
        case _:
            return IncTNP(config)
