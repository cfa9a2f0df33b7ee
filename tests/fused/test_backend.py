"""Who computes: what was asked for, or a reason why not."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import inctnp
from inctnp.errors import ConfigError
from inctnp.fused import backend
from inctnp.fused.backend import WORTH_IT, choose_backend, why_not_fused
from inctnp.fused.process import FusedProcess
from inctnp.predictive.gaussian import Gaussian
from inctnp.testing.toy import toy_model, toy_points
from tests.fused.conftest import narrow


def test_a_model_that_can_be_fused_is() -> None:
    model = narrow()
    assert why_not_fused(model) == ""
    assert isinstance(choose_backend("fused", model), FusedProcess)
    assert choose_backend("eager", model) is model


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (toy_model("tnp-d").float(), "tnp-d has no cache of keys and values"),
        (narrow().double(), r"computes in torch.float64 on cpu, not in float32"),
        (narrow(heads=4), "heads are 8 wide, not 16"),
        (narrow(grids=((0.5, 2.0), (1.0, 3.0))), "inputs are Fourier features"),
    ],
    ids=["no cache", "float64", "other heads", "features"],
)
def test_a_model_that_cannot_be_fused_says_why_and_streams_all_the_same(
    model: inctnp.NeuralProcess, reason: str
) -> None:
    with pytest.raises(ConfigError, match=f"cannot be fused: .*{reason}.*backend='auto'"):
        model.stream(backend="fused")
    x, y = toy_points(model, 3)
    stream = model.stream()
    stream.observe(x, y)
    assert stream.step(x[0], y[0]).mean.shape == (1,)


def test_a_model_loaded_in_inference_mode_is_left_to_itself() -> None:
    with torch.inference_mode():
        model = inctnp.load("rbf-64/inctnp-seq")
    assert "inference mode" in why_not_fused(model)


def test_without_numba_fused_is_refused_and_auto_is_eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_numba_is_here", lambda: False)
    model = narrow()
    with pytest.raises(ConfigError, match=r"numba is not installed \(pip install 'inctnp\[fused\]'\)"):
        choose_backend("fused", model)
    assert choose_backend("auto", model) is model


def test_no_other_backend_is_guessed_at() -> None:
    with pytest.raises(ConfigError, match="No backend is called 'jit': choose auto, eager, fused"):
        narrow().stream(backend="jit")


def test_auto_never_compiles_and_leaves_short_contexts_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = narrow()
    monkeypatch.setenv("INCTNP_CACHE", str(tmp_path))
    assert choose_backend("auto", model) is model
    monkeypatch.setattr(backend, "is_compiled", lambda: True)
    chosen = choose_backend("auto", model)
    assert isinstance(chosen, FusedProcess) and chosen.least_points == WORTH_IT
    x, y = toy_points(model, WORTH_IT)
    asked: list[int] = []
    monkeypatch.setattr(FusedProcess, "_step", lambda self, caches, *_: asked.append(len(caches[0]) - 1) or caches)
    monkeypatch.setattr(FusedProcess, "_predictive", lambda *_: Gaussian(torch.zeros(1, 1), torch.ones(1, 1)))
    for points in (1, WORTH_IT - 1, WORTH_IT):
        chosen.query(model.extend(model.empty(), x[:points], y[:points]), x[:1])
    assert asked == [WORTH_IT]


def test_nothing_loads_the_compiler_before_it_is_needed() -> None:
    program = (
        "import sys, inctnp; m = inctnp.build(inctnp.ModelConfig(name='inctnp', dim_x=1, width=16, heads=1, layers=1))"
        ".eval(); s = m.stream(backend='fused'); t = m.stream(); t.observe([[0.0]], [0.0]); t.step([1.0], 1.0);"
        "assert not {'numba', 'llvmlite'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
