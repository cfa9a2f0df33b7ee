"""Who computes the steps of a stream: the model itself, or compiled code that gives the same answers sooner."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Protocol, runtime_checkable

import torch

from inctnp.errors import ConfigError
from inctnp.fused.folder import is_compiled
from inctnp.fused.process import FusedProcess
from inctnp.models.base import NeuralProcess
from inctnp.models.inc_tnp import IncTNP
from inctnp.notation import Inputs, Outputs
from inctnp.predictive.base import Predictive

BACKENDS = ("auto", "eager", "fused")
WORTH_IT = 256
"""Points from which `auto` uses compiled code: loading it takes longer than a short stream does without."""
DEPTH = 16
"""Width of a head the compiled code is written for."""


@runtime_checkable
class Backend(Protocol):
    """What a stream needs done; every model can do it, too."""

    def extend(self, context: Any, x: Inputs, y: Outputs) -> Any: ...

    def query(self, context: Any, xt: Inputs) -> Predictive: ...

    def query_then_extend(self, context: Any, x: Inputs, y: Outputs) -> tuple[Predictive, Any]: ...

    def query_then_extend_each(
        self, contexts: Sequence[Any], x: Inputs, y: Outputs
    ) -> tuple[Predictive, list[Any]]: ...


def choose_backend(name: str, model: NeuralProcess) -> Backend:
    """`eager`: the model. `fused`: compiled code, or an error that says why not. `auto`: compiled code where it pays.

    `auto` never compiles, for that takes as long as tens of thousands of rows: it uses compiled code if this machine
    has it already, and from `WORTH_IT` points on. Either `fused` compiles it once, or `python -m inctnp.fused`.
    """
    if name not in BACKENDS:
        raise ConfigError(f"No backend is called {name!r}: choose {', '.join(BACKENDS)}.")
    if name == "eager":
        return model
    reason = why_not_fused(model)
    if name == "fused" and reason:
        raise ConfigError(f"This model cannot be fused: {reason}. Use backend='auto' or 'eager'.")
    if isinstance(model, IncTNP) and not reason and (name == "fused" or is_compiled()):
        return FusedProcess(model, least_points=WORTH_IT if name == "auto" else 0)
    return model


def why_not_fused(model: NeuralProcess) -> str:
    """What is missing for compiled code, in words; nothing if nothing is."""
    if not isinstance(model, IncTNP):
        return f"{model.config.name} has no cache of keys and values"
    config = model.config
    obstacles = {
        "numba is not installed (pip install 'inctnp[fused]')": not _numba_is_here(),
        "its inputs are Fourier features": bool(config.grids),
        f"its heads are {config.depth} wide, not {DEPTH}": config.depth != DEPTH,
        f"it computes in {model.dtype} on {model.device}, not in float32 on the processor": (
            model.dtype != torch.float32 or model.device.type != "cpu"
        ),
        "it was loaded in inference mode": any(parameter.is_inference() for parameter in model.parameters()),
    }
    return next((reason for reason, stands in obstacles.items() if stands), "")


@cache
def _numba_is_here() -> bool:
    return find_spec("numba") is not None
