"""Every shipped model answers what it answered when it was stored, and the wheel stays small."""

import json
from typing import Any

import pytest
import torch

import inctnp
from inctnp.models.config import ModelConfig
from inctnp.pretrained.golden import golden
from inctnp.pretrained.registry import HOME, names
from inctnp.pretrained.weights import CONFIG, WEIGHTS

MOST_BYTES = 38 * 2**20
"""Of all weights together; wheels of 40 MB are the limit."""


def about(name: str) -> dict[str, Any]:
    return json.loads((HOME / name / CONFIG).read_text())["about"]


@pytest.mark.parametrize("name", names())
def test_shipped_weights_answer_as_they_did_when_they_were_stored(name: str) -> None:
    now = golden(inctnp.load(name))
    stored = about(name)["golden"]
    for what in ("mean", "stddev"):
        torch.testing.assert_close(torch.tensor(now[what]), torch.tensor(stored[what]), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", names())
def test_every_shipped_model_says_how_it_was_made(name: str) -> None:
    told = about(name)
    assert {"steps", "cpu_hours", "held_out", "command", "config_hash"} <= told.keys()
    card = (HOME / name / "card.md").read_text()
    assert told["command"] in card
    assert (HOME / name / "training.jsonl").read_text().strip()


def test_golden_answers_see_every_weight() -> None:
    torch.manual_seed(0)
    model = inctnp.build(ModelConfig(name="inctnp-seq", dim_x=2, width=16, heads=2, layers=1, components=2))
    before = golden(model)
    assert golden(model) == before
    for parameter in model.parameters():
        with torch.no_grad():
            parameter.view(-1)[0].add_(0.5)
        after = golden(model)
        with torch.no_grad():
            parameter.view(-1)[0].sub_(0.5)
        assert after != before


def test_the_wheel_stays_small() -> None:
    assert sum(path.stat().st_size for path in HOME.glob(f"*/*/{WEIGHTS}")) < MOST_BYTES
