"""What is saved comes back, and what is damaged is refused."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from inctnp.errors import StateError
from inctnp.models.build import build
from inctnp.training.checkpoint import read_checkpoint, restore, save_checkpoint
from inctnp.training.optimisers import build_optimisers
from inctnp.training.progress import Progress
from tests.training.conftest import tiny


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    model = build(tiny().model)
    optimisers = build_optimisers(model, tiny().optimisation)
    model.objective(tiny().phases[0].data.batch(0)).backward()
    for optimiser in optimisers:
        optimiser.step()
    save_checkpoint(tmp_path / "run.safetensors", model, optimisers, {"progress": {"step": 3}})
    return tmp_path / "run.safetensors"


def test_weights_and_optimisers_come_back(saved: Path, tmp_path: Path) -> None:
    header, tensors = read_checkpoint(saved)
    assert header["progress"] == {"step": 3}
    model = build(tiny().model)
    optimisers = build_optimisers(model, tiny().optimisation)
    restore(tensors, model, optimisers)
    save_checkpoint(tmp_path / "again.safetensors", model, optimisers, {"progress": {"step": 3}})
    again = read_checkpoint(tmp_path / "again.safetensors")[1]
    assert again.keys() == tensors.keys()
    assert all(torch.equal(again[name], tensors[name]) for name in tensors)
    assert any(name.startswith("optimiser1.") for name in tensors)


@pytest.mark.parametrize("keep", [0, 7, 100, -1])
def test_a_file_cut_short_is_refused(saved: Path, keep: int) -> None:
    saved.write_bytes(saved.read_bytes()[:keep])
    with pytest.raises(StateError, match=r"damaged.*--fresh"):
        read_checkpoint(saved)


def test_a_changed_bit_is_noticed(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[-5] ^= 1
    saved.write_bytes(content)
    with pytest.raises(StateError, match="not those that were saved"):
        read_checkpoint(saved)


def test_another_kind_of_file_is_refused(saved: Path) -> None:
    save_file({"a": torch.zeros(1)}, saved)
    with pytest.raises(StateError, match="not a checkpoint"):
        read_checkpoint(saved)


def test_weights_of_another_model_are_refused(saved: Path) -> None:
    model = build(tiny("model.width=32").model)
    with pytest.raises(StateError, match="another model"):
        restore(read_checkpoint(saved)[1], model, build_optimisers(model, tiny().optimisation))


def test_checkpoints_of_the_first_version_are_read(tmp_path: Path) -> None:
    progress = {"step": 5, "seconds": 9.0, "skipped": 0, "bad_in_a_row": 0, "loss_sum": 1.0, "loss_count": 2}
    save_file({"model.a": torch.ones(1)}, tmp_path / "old", {"run": json.dumps({"progress": progress})})
    header, tensors = read_checkpoint(tmp_path / "old")
    assert list(tensors) == ["model.a"]
    read = Progress(**header["progress"])
    assert (read.batches, read.cpu_seconds) == (5, 9.0)
