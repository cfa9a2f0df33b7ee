"""AdamW for everything, or Muon for the matrices inside the transformer and AdamW for the rest."""

import torch
from torch import nn
from torch.optim import AdamW, Muon, Optimizer

from inctnp.training.recipe import Optimisation


def build_optimisers(model: nn.Module, settings: Optimisation) -> list[Optimizer]:
    """One or two optimisers that together hold every parameter once."""
    named = list(model.named_parameters())
    hidden = [p for name, p in named if settings.muon_rate and "blocks." in name and p.ndim == 2]
    chosen = set(map(id, hidden))
    rest = [p for _, p in named if id(p) not in chosen]
    optimisers: list[Optimizer] = [
        AdamW(rest, lr=settings.rate, betas=(0.9, 0.999), weight_decay=settings.weight_decay, fused=_fusable(rest))
    ]
    if hidden:
        # "original" scales an update by sqrt(max(1, rows / columns)): a step then moves every matrix alike.
        optimisers.append(
            Muon(hidden, lr=settings.muon_rate, weight_decay=settings.weight_decay, adjust_lr_fn="original")
        )
    return optimisers


def _fusable(parameters: list[nn.Parameter]) -> bool:
    """The fused kernel saves a third of the step but wants real floating-point tensors of one device."""
    return all(p.dtype in (torch.float32, torch.float64) for p in parameters)
