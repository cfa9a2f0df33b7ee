"""TensorBoard is an extra."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from inctnp.errors import ConfigError
from inctnp.training.progress import Report
from inctnp.training.tensorboard import tensorboard_teller

REPORT = Report(7, 0.5, 1e-3, 4.0, 1.0, log_likelihood=-1.0, measured={"gnsr": 2.0})


def test_its_absence_is_said_in_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ConfigError, match=r"inctnp\[tensorboard\]"):
        tensorboard_teller(tmp_path)


def test_reports_become_scalars(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written: list[tuple[str, float, int]] = []

    class Writer:
        def __init__(self, folder: str) -> None:
            assert folder == str(tmp_path)

        def add_scalar(self, *scalar: object) -> None:
            written.append(scalar)

        def flush(self) -> None:
            pass

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    tensorboard_teller(tmp_path)(REPORT)
    assert ("train/loss", 0.5, 7) in written
    assert ("held-out/log_likelihood", -1.0, 7) in written
    assert ("measured/gnsr", 2.0, 7) in written
    assert not any("gap" in name for name, _, _ in written)
