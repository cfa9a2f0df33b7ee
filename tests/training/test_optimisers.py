"""Who moves which weight."""

import pytest
import torch
from torch.optim import AdamW, Muon

from inctnp.models.build import build
from inctnp.models.config import NAMES
from inctnp.training.optimisers import build_optimisers
from tests.training.conftest import tiny


@pytest.mark.parametrize("variant", ["fast", "paper"])
@pytest.mark.parametrize("name", NAMES)
def test_every_weight_is_held_exactly_once(name: str, variant: str) -> None:
    chosen = tiny(model=name, variant=variant)
    model = build(chosen.model)
    held = [
        weight
        for optimiser in build_optimisers(model, chosen.optimisation)
        for group in optimiser.param_groups
        for weight in group["params"]
    ]
    assert sorted(map(id, held)) == sorted(map(id, model.parameters()))


def test_muon_takes_the_matrices_inside_the_transformer() -> None:
    model = build(tiny().model)
    adam, muon = build_optimisers(model, tiny().optimisation)
    assert isinstance(adam, AdamW)
    assert isinstance(muon, Muon)
    names = {id(weight): name for name, weight in model.named_parameters()}
    taken = {names[id(weight)] for weight in muon.param_groups[0]["params"]}
    assert taken
    assert all(name.startswith("stack.") for name in taken)
    assert all(weight.ndim == 2 for weight in muon.param_groups[0]["params"])


def test_the_papers_optimiser_is_adamw_alone() -> None:
    (adam,) = build_optimisers(build(tiny(variant="paper").model), tiny(variant="paper").optimisation)
    (group,) = adam.param_groups
    assert (group["betas"], group["weight_decay"]) == ((0.9, 0.999), 0.01)
    assert group["fused"]


def test_fused_adamw_is_adamw() -> None:
    rng = torch.Generator().manual_seed(0)
    weights = [torch.nn.Parameter(torch.randn(5, 3, generator=rng)) for _ in range(2)]
    weights[1].data.copy_(weights[0].data)
    for weight, fused in zip(weights, (True, False), strict=True):
        optimiser = AdamW([weight], lr=1e-2, weight_decay=0.01, fused=fused)
        for step in range(5):
            weight.grad = torch.full_like(weight, 0.1 * step - 0.2)
            optimiser.step()
    torch.testing.assert_close(weights[0], weights[1])
