"""Models in folders: what is read is what was written, or it is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import inctnp
from inctnp.errors import ConfigError, MissingDataError, StateError
from inctnp.models.config import NAMES
from inctnp.pretrained.weights import CONFIG, WEIGHTS, from_pretrained, save_pretrained
from inctnp.testing.toy import toy_model, toy_points


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_model_comes_back_bit_for_bit(name: str, dtype: torch.dtype, tmp_path: Path) -> None:
    model = toy_model(name, grids=((1.0, 2.0), (3.0,)), components=2).to(dtype)
    again = from_pretrained(save_pretrained(model, tmp_path / "new" / "folder", about={"steps": 3}))
    assert again.config == model.config and again.dtype == dtype and not again.training
    x, y = toy_points(model, 4)
    answers = [m.query(m.extend(m.empty(), x, y), x).mean for m in (model, again)]
    assert torch.equal(*answers)


def test_narrow_weights_are_widened_to_float32(tmp_path: Path) -> None:
    model = toy_model("inctnp").float()
    save_pretrained(model, tmp_path, dtype="bfloat16")
    assert {t.dtype for t in load_file(tmp_path / WEIGHTS).values()} == {torch.bfloat16}
    again = from_pretrained(tmp_path)
    assert again.dtype == torch.float32
    for ours, theirs in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(ours.bfloat16().float(), theirs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_pretrained(toy_model("inctnp"), tmp_path / "model")


def rewrite(folder: Path, **changes: Any) -> None:
    described = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**described, **changes}))


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"config\.json and model\.safetensors were expected"):
        from_pretrained(tmp_path)


def test_changed_weights_are_refused(folder: Path) -> None:
    tensors = load_file(folder / WEIGHTS)
    tensors["embed.net.0.bias"] += 1e-6
    save_file(tensors, folder / WEIGHTS)
    with pytest.raises(StateError, match="changed or damaged"):
        from_pretrained(folder)


def test_truncated_weights_are_refused(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-10])
    with pytest.raises(StateError, match="cannot be read"):
        from_pretrained(folder)


def test_missing_weights_are_refused(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    with pytest.raises(StateError, match="cannot be read"):
        from_pretrained(folder)


@pytest.mark.parametrize(
    ("text", "message"), [("{", "damaged"), ("\xff", "damaged"), ("{}", "lacks 'model' or 'sha256'")]
)
def test_a_damaged_description_is_refused(text: str, message: str, folder: Path) -> None:
    (folder / CONFIG).write_bytes(text.encode("latin1"))
    with pytest.raises(StateError, match=message):
        from_pretrained(folder)


def test_settings_of_a_newer_version_are_named(folder: Path) -> None:
    described = json.loads((folder / CONFIG).read_text())
    rewrite(folder, model={**described["model"], "rotary": True})
    with pytest.raises(ConfigError, match=r"\['rotary'\].*newer version"):
        from_pretrained(folder)


def test_settings_that_do_not_fit_the_weights_are_refused(folder: Path) -> None:
    described = json.loads((folder / CONFIG).read_text())
    rewrite(folder, model={**described["model"], "layers": 3})
    with pytest.raises(StateError, match="do not fit the settings"):
        from_pretrained(folder)


def test_a_model_is_loaded_from_its_folder_by_path(folder: Path) -> None:
    assert inctnp.load(str(folder)).identity == str(folder.resolve())
