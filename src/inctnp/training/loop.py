"""The training loop: one plain pass over (seed, step), with nothing that a restart could lose."""

import json
import math
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn

from inctnp.errors import IncTNPError
from inctnp.models.base import NeuralProcess
from inctnp.models.build import build
from inctnp.task import Task
from inctnp.training.checkpoint import load_checkpoint, save_checkpoint
from inctnp.training.optimisers import build_optimisers
from inctnp.training.recipe import Recipe
from inctnp.training.schedule import SCHEDULES
from inctnp.training.validation import Validator

MOST_BAD_STEPS = 20
"""Losses in a row that are not finite before a run gives up."""


class DivergenceError(IncTNPError, ArithmeticError):
    """The loss stayed NaN or infinite."""


@dataclass(frozen=True)
class Report:
    """What is told of a run's progress."""

    step: int
    loss: float
    rate: float
    steps_per_second: float
    seconds: float
    """Spent training since the first step, restarts included."""
    log_likelihood: float | None = None
    gap: float | None = None
    skipped: int = 0


@dataclass(kw_only=True)
class Training:
    """One run in one directory; calling `run` again goes on where the last call stopped."""

    recipe: Recipe
    directory: Path
    tell: Callable[[Report], None] = lambda report: None
    fabric: Fabric | None = None
    """One CPU process unless given; a Fabric with more devices or nodes trains on all of them."""
    every: int = 1000
    """Steps between validations."""
    save_seconds: float = 180.0
    _stop: bool = field(default=False, init=False)

    def run(self, steps: int | None = None) -> NeuralProcess:
        """Train up to the recipe's end, or up to so many steps; answers the model."""
        fabric = self.fabric or Fabric(accelerator="cpu", devices=1)
        fabric.launch()
        torch.manual_seed(self.recipe.seed)
        model = build(self.recipe.model)
        optimisers = build_optimisers(model, self.recipe.optimisation)
        progress = self._resume(model, optimisers)
        module, *wrapped = fabric.setup(_Objective(model, self.recipe.precision), *optimisers)
        validator = Validator(self.recipe.validation, self.recipe.validation_batches)
        end = min(self.recipe.steps, steps or self.recipe.steps)
        clock, saved, began = time.monotonic(), time.monotonic(), progress.step
        with self._stopping(), _ahead(self.recipe, progress.step, end, fabric.global_rank, fabric.world_size) as tasks:
            for task in tasks:
                rate = self._set_rates(optimisers, progress.step)
                progress.add(_one_step(fabric, module, wrapped, task, self.recipe.optimisation.clip))
                now = time.monotonic()
                progress.seconds += now - clock
                clock = now
                last = self._stop or progress.step == end
                if progress.step % self.every == 0 or last:
                    self._tell(progress, rate, model, validator, fabric)
                    clock = time.monotonic()
                if last or now - saved > self.save_seconds:
                    self._save(model, optimisers, progress, fabric)
                    saved = clock = time.monotonic()
                if self._stop:
                    break
        assert progress.step >= began
        return model

    @property
    def checkpoint(self) -> Path:
        return self.directory / "checkpoint.safetensors"

    @property
    def metrics(self) -> Path:
        return self.directory / "metrics.jsonl"

    def _resume(self, model: nn.Module, optimisers: list[torch.optim.Optimizer]) -> "_Progress":
        if not self.checkpoint.exists():
            return _Progress()
        return _Progress(**load_checkpoint(self.checkpoint, model, optimisers)["progress"])

    def _save(
        self, model: nn.Module, optimisers: list[torch.optim.Optimizer], progress: "_Progress", fabric: Fabric
    ) -> None:
        if fabric.global_rank == 0:
            header = {"recipe": self.recipe.as_dict(), "progress": vars(progress)}
            save_checkpoint(self.checkpoint, model, optimisers, header)

    def _set_rates(self, optimisers: list[torch.optim.Optimizer], step: int) -> float:
        """The schedule is a function of the step, so there is no scheduler state to restore."""
        settings = self.recipe.optimisation
        fraction = SCHEDULES[settings.schedule](
            step, self.recipe.steps, settings.warmup, settings.floor / settings.rate
        )
        for optimiser, peak in zip(optimisers, (settings.rate, settings.muon_rate), strict=False):
            for group in optimiser.param_groups:
                group["lr"] = peak * fraction
        return settings.rate * fraction

    def _tell(
        self, progress: "_Progress", rate: float, model: NeuralProcess, validator: Validator, fabric: Fabric
    ) -> None:
        if fabric.global_rank:
            return
        score = validator.score(model)
        report = Report(
            progress.step,
            progress.take_loss(),
            rate,
            progress.step / max(progress.seconds, 1e-9),
            progress.seconds,
            score.log_likelihood,
            score.gap,
            progress.skipped,
        )
        self.directory.mkdir(parents=True, exist_ok=True)
        with self.metrics.open("a") as file:
            file.write(json.dumps(vars(report)) + "\n")
        self.tell(report)

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM end the loop after the step at hand, with everything saved."""

        def stop(signum: int, frame: FrameType | None) -> None:
            self._stop = True

        before = {sig: signal.signal(sig, stop) for sig in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)

    @property
    def stopped(self) -> bool:
        """Whether a signal ended the last run early."""
        return self._stop


@dataclass
class _Progress:
    step: int = 0
    seconds: float = 0.0
    skipped: int = 0
    bad_in_a_row: int = 0
    loss_sum: float = 0.0
    loss_count: int = 0

    def add(self, loss: float) -> None:
        self.step += 1
        if math.isfinite(loss):
            self.loss_sum, self.loss_count, self.bad_in_a_row = self.loss_sum + loss, self.loss_count + 1, 0
            return
        self.skipped, self.bad_in_a_row = self.skipped + 1, self.bad_in_a_row + 1
        if self.bad_in_a_row >= MOST_BAD_STEPS:
            raise DivergenceError(
                f"The loss was not finite for {MOST_BAD_STEPS} steps in a row, up to step {self.step}. The last "
                "checkpoint is from before: lower the learning rate or train with --precision 32-true, and resume."
            )

    def take_loss(self) -> float:
        mean = self.loss_sum / max(1, self.loss_count)
        self.loss_sum, self.loss_count = 0.0, 0
        return mean


class _Objective(nn.Module):
    """A model seen as the function that is differentiated, which is what Fabric wraps."""

    def __init__(self, model: NeuralProcess, precision: str) -> None:
        super().__init__()
        self.model, self.low = model, precision == "bf16-mixed"

    def forward(self, xc: Tensor, yc: Tensor, xt: Tensor, yt: Tensor) -> Tensor:
        # Not Fabric's own mixed precision: that would round the data to bfloat16 before the model sees them.
        with torch.autocast(xc.device.type, torch.bfloat16, enabled=self.low):
            return self.model.objective(Task(xc=xc, yc=yc, xt=xt, yt=yt))


def _one_step(fabric: Fabric, module: Any, optimisers: list[Any], task: Task, clip: float) -> float:
    """Differentiate, clip, move; a loss that is not finite moves nothing."""
    for optimiser in optimisers:
        optimiser.zero_grad()
    loss = module(task.xc, task.yc, task.xt, task.yt)
    fabric.backward(loss)
    norm = torch.nn.utils.clip_grad_norm_(module.parameters(), clip)
    value = (loss.detach() + 0 * norm).item()
    if math.isfinite(value):
        for optimiser in optimisers:
            optimiser.step()
    return value


@contextmanager
def _ahead(recipe: Recipe, start: int, end: int, rank: int, world: int) -> Iterator[Iterator[Task]]:
    """Tasks made one step ahead in a thread; process `rank` of `world` takes every `world`-th batch."""

    def make(step: int) -> Task:
        return recipe.data_at(step).batch(step * world + rank)

    with ThreadPoolExecutor(1) as pool:

        def tasks() -> Iterator[Task]:
            coming = pool.submit(make, start)
            for step in range(start, end):
                task = coming.result()
                if step + 1 < end:
                    coming = pool.submit(make, step + 1)
                yield task

        yield tasks()
