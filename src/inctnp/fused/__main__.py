"""Compile ahead of the first stream: `python -m inctnp.fused`, for instance while an image is built."""

import time

import torch
import typer

from inctnp.errors import ConfigError
from inctnp.fused.backend import why_not_fused
from inctnp.fused.folder import folder
from inctnp.fused.process import FusedProcess
from inctnp.models.config import ModelConfig
from inctnp.models.inc_tnp import IncTNP


@torch.no_grad()
def compile_now() -> float:
    """Processor seconds until the first row was answered: those of compiling, or of loading what is there."""
    model = IncTNP(ModelConfig(name="inctnp", dim_x=1, width=16, heads=1, layers=1)).float().eval()
    if reason := why_not_fused(model):
        raise ConfigError(f"Nothing can be compiled: {reason}.")
    row = torch.zeros(1, 1)
    context = model.extend(model.empty(), row, row)
    start = time.process_time()
    FusedProcess(model).query_then_extend(context, row, row)
    return time.process_time() - start


if __name__ == "__main__":
    typer.echo(f"Ready after {compile_now():.1f} s of one core, kept in {folder()}")
