"""Settings and the models they make."""

from typing import Any

import pytest
import torch

import inctnp
from inctnp.errors import ConfigError, UnknownNameError
from inctnp.models.config import NAMES, ModelConfig


@pytest.mark.parametrize("name", NAMES)
def test_a_model_knows_its_settings_and_starts_differently_each_time(name: str) -> None:
    config = ModelConfig(name=name, dim_x=3, dim_y=2, width=16, heads=2, layers=2)
    one, other = inctnp.build(config), inctnp.build(config)
    assert one.config == config
    assert any(not torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_layers_start_each_on_their_own() -> None:
    stack = inctnp.build(ModelConfig(name="inctnp", dim_x=1, width=16, heads=2, layers=2)).stack
    first, second = stack.self_blocks
    assert not torch.equal(first.up.weight, second.up.weight)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"name": "gpt"}, UnknownNameError, "No model is called 'gpt'.*cnp, tnp-d"),
        ({"width": 20, "heads": 8}, ConfigError, "width 20 must be a multiple of heads 8"),
        ({"dim_x": 0}, ConfigError, "at least 1"),
        ({"dim_y": 0}, ConfigError, "at least 1"),
        ({"components": 0}, ConfigError, "at least 1"),
        ({"layers": 0}, ConfigError, "at least 1"),
        ({"grids": ((1.0,),)}, ConfigError, "1 Fourier grids were given for 2 inputs"),
        ({"name": "tnp-d", "prior": True}, ConfigError, "tnp-d has no prior token"),
    ],
)
def test_contradictions_are_refused(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ModelConfig(**{"name": "inctnp", "dim_x": 2, **settings})


def test_the_prior_can_be_had_under_either_objective() -> None:
    assert ModelConfig(name="inctnp-prior", dim_x=1).prior
    for name in ("inctnp", "inctnp-seq"):
        assert inctnp.build(ModelConfig(name=name, dim_x=1, layers=1, prior=True)).prior is not None
        assert inctnp.build(ModelConfig(name=name, dim_x=1, layers=1)).prior is None
