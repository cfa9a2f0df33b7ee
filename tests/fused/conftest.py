"""Small models with heads of the width that compiled code is written for."""

from typing import Any

import pytest
import torch

from inctnp.models.inc_tnp import IncTNP
from inctnp.testing.toy import toy_model

HEADS: dict[str, dict[str, Any]] = {
    "gaussian": {},
    "gaussian, three outputs": {"dim_y": 3, "dim_x": 1},
    "mixture": {"components": 4},
    "mixture, two outputs": {"components": 3, "dim_y": 2, "dim_x": 5},
}


def narrow(name: str = "inctnp-prior", **settings: Any) -> IncTNP:
    model = toy_model(name, **{"width": 32, "heads": 2, **settings}).float().requires_grad_(False)
    assert isinstance(model, IncTNP)
    return model


@pytest.fixture(params=HEADS.values(), ids=HEADS.keys())
def model(request: pytest.FixtureRequest) -> IncTNP:
    return narrow(**request.param)


@pytest.fixture(autouse=True)
def no_gradients() -> Any:
    with torch.no_grad():
        yield
