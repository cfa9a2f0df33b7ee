"""The training loop: one plain pass over (seed, step), with nothing that a restart could lose."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import torch
from lightning_fabric import Fabric
from torch.optim import Optimizer

from inctnp.errors import StateError
from inctnp.models.base import NeuralProcess
from inctnp.models.build import build
from inctnp.pretrained.registry import load
from inctnp.pretrained.weights import weights_hash
from inctnp.task import Task
from inctnp.training.checkpoint import read_checkpoint, restore, save_checkpoint
from inctnp.training.interrupt import Interruption, interruptions
from inctnp.training.optimisers import build_optimisers
from inctnp.training.progress import Measurement, Progress, Report, require_progress
from inctnp.training.recipe import Recipe
from inctnp.training.run_directory import RunDirectory, require_same_recipe
from inctnp.training.schedule import SCHEDULES
from inctnp.training.step import Objective, one_step
from inctnp.training.supply import Share, ahead, batches_of
from inctnp.training.validation import Score, Validator

__all__ = ["Report", "Training"]


@dataclass(kw_only=True)
class Training:
    """One run in one directory; calling `run` again goes on where the last call stopped."""

    recipe: Recipe
    directory: Path
    tell: Callable[[Report], None] = lambda report: None
    """Called after every validation or measurement."""
    tick: Callable[[Report], None] = lambda report: None
    """Called after every step, with that step's loss."""
    fabric: Fabric | None = None
    """One CPU process unless given; a Fabric with more devices or nodes trains on all of them."""
    every: int = 1000
    """Steps between validations."""
    save_seconds: float = 180.0
    measurements: tuple[Measurement, ...] = ()
    stopped_by: int = field(default=0, init=False)
    """The signal that ended the last run early; 0 if none did."""

    def run(self, steps: int | None = None) -> NeuralProcess:
        """Train up to the recipe's end, or up to so many steps; answers the model."""
        fabric = self.fabric or Fabric(accelerator="cpu", devices=1)
        fabric.launch()
        with ExitStack() as held:
            if fabric.is_global_zero:
                held.enter_context(self.folder.opened(self.recipe))
            fabric.barrier()
            seen = held.enter_context(interruptions())
            run = _Run(self, fabric)
            end = min(self.recipe.steps, steps or self.recipe.steps)
            for tasks in held.enter_context(ahead(run.make, run.progress.step, end)):
                if run.step(tasks, seen):
                    break
            run.save_if_new()
        self.stopped_by = seen.signal
        return run.model

    @property
    def folder(self) -> RunDirectory:
        return RunDirectory(self.directory)

    @property
    def complete(self) -> bool:
        """Whether the run in the directory has taken all its steps."""
        return self.folder.step() >= self.recipe.steps


class _Run:
    """What is held in memory while a run is trained."""

    def __init__(self, training: Training, fabric: Fabric) -> None:
        self.training, self.fabric = training, fabric
        self.folder, self.recipe = training.folder, training.recipe
        resumed = self.folder.checkpoint.exists()
        self.model = build(self.recipe.model) if resumed else fresh_model(self.recipe)
        self.optimisers = build_optimisers(self.model, self.recipe.optimisation)
        self.progress = self._resume() if resumed else Progress()
        if fabric.is_global_zero:
            self.folder.forget_after(self.progress.step)
        self.module, *self.wrapped = fabric.setup(Objective(self.model, self.recipe.precision), *self.optimisers)
        self.validator = (
            Validator(self.recipe.validation, self.recipe.validation_batches) if fabric.is_global_zero else None
        )
        share = Share(rank=fabric.global_rank, world=fabric.world_size)
        self.per_step = self.recipe.batches_per_step * share.world
        offset = self.progress.batches - self.progress.step * self.per_step
        self.make = lambda step: batches_of(self.recipe, step, offset + step * self.per_step, share)
        self.saved_step, self.saved = self.progress.step, time.monotonic()
        self.reported = (self.progress.step, self.progress.seconds)
        self.clock = (time.monotonic(), time.process_time())

    def step(self, tasks: Sequence[Task], seen: Interruption) -> bool:
        """Learn from one step's batches; answers whether to stop."""
        rate = set_rates(self.optimisers, self.recipe, self.progress.step)
        loss = one_step(self.fabric, self.module, self.wrapped, tasks, self.recipe.optimisation.clip)
        loss, seen.signal = agree(self.fabric, loss, seen.signal)
        self.progress.add(loss, self.per_step)
        require_progress(self.progress, self.model, tasks[-1])
        if self.fabric.is_global_zero:
            self._count_time()
            self.training.tick(self._report(loss, rate))
            self._report_if_due(rate)
            if time.monotonic() - self.saved > self.training.save_seconds:
                self.save_if_new()
        return bool(seen.signal)

    def save_if_new(self) -> None:
        """Write the checkpoint, unless it is there already."""
        if self.fabric.is_global_zero and self.progress.step > self.saved_step:
            header = {"recipe": self.recipe.as_dict(), "hash": self.recipe.hash, "progress": vars(self.progress)}
            save_checkpoint(self.folder.checkpoint, self.model, self.optimisers, header)
            self.saved_step, self.saved = self.progress.step, time.monotonic()
            self._start_clock()

    def _resume(self) -> Progress:
        header, tensors = read_checkpoint(self.folder.checkpoint)
        progress = Progress(**header["progress"])
        require_same_recipe(header["recipe"], self.recipe, self.folder.path, progress.step)
        if self.fabric.is_global_zero:
            self.folder.describe(self.recipe)  # its number of steps may be another now
        restore(tensors, self.model, self.optimisers)
        return progress

    def _report_if_due(self, rate: float) -> None:
        """Rows come at fixed steps only, so that a run that was interrupted writes the rows of one that was not."""
        step = self.progress.step
        validate = step % self.training.every == 0 or step == self.recipe.steps
        due = [each for each in self.training.measurements if step % each.every == 0]
        if validate or due:
            assert self.validator is not None
            score = self.validator.score(self.model) if validate else None
            measured = {each.name: each.take(self.model) for each in due}
            report = self._report(self.progress.take_loss(), rate, score, measured)
            self.folder.append(report)
            self.training.tell(report)
            self.reported = (step, self.progress.seconds)
            self._start_clock()

    def _report(
        self, loss: float, rate: float, score: Score | None = None, measured: dict[str, float] | None = None
    ) -> Report:
        step, seconds = self.reported
        return Report(
            step=self.progress.step,
            loss=loss,
            rate=rate,
            steps_per_second=(self.progress.step - step) / max(self.progress.seconds - seconds, 1e-9),
            seconds=self.progress.seconds,
            log_likelihood=score.log_likelihood if score else None,
            gap=score.gap if score else None,
            skipped=self.progress.skipped,
            joint_gap=score.joint_gap if score else None,
            cpu_seconds=self.progress.cpu_seconds,
            measured=measured or {},
        )

    def _count_time(self) -> None:
        wall, cpu = self.clock
        self._start_clock()
        self.progress.seconds += self.clock[0] - wall
        self.progress.cpu_seconds += self.clock[1] - cpu

    def _start_clock(self) -> None:
        """What was spent since the last call, on validation or saving, is not training."""
        self.clock = (time.monotonic(), time.process_time())


def fresh_model(recipe: Recipe) -> NeuralProcess:
    """The weights a run begins with: drawn from the recipe's seed, or those it names."""
    if recipe.start is None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(recipe.seed)
            return build(recipe.model)
    model = load(recipe.start.name).float().train()
    if weights_hash(model) != recipe.start.sha256:
        raise StateError(f"The weights of {recipe.start.name} are not the ones this recipe was made with.")
    return model


def set_rates(optimisers: Sequence[Optimizer], recipe: Recipe, step: int) -> float:
    """The schedule is a function of the step, so there is no scheduler state to restore."""
    settings = recipe.optimisation
    fraction = SCHEDULES[settings.schedule](step, recipe.steps, settings.warmup, settings.floor / settings.rate)
    for optimiser, peak in zip(optimisers, (settings.rate, settings.muon_rate), strict=False):
        for group in optimiser.param_groups:
            group["lr"] = peak * fraction
    return settings.rate * fraction


def agree(fabric: Fabric, loss: float, signalled: int) -> tuple[float, int]:
    """The mean loss of all processes, and the signal that any received: they must stop after the same step."""
    if fabric.world_size == 1:
        return loss, signalled
    mean = fabric.all_reduce(torch.tensor(loss, device=fabric.device), reduce_op="mean")
    most = fabric.all_reduce(torch.tensor(signalled, device=fabric.device), reduce_op="max")
    return cast(torch.Tensor, mean).item(), int(cast(torch.Tensor, most).item())
