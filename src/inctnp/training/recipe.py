"""A run is a value: what is trained, on what, how long and how fast."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from inctnp.errors import ConfigError
from inctnp.generators.base import TaskGenerator
from inctnp.models.config import ModelConfig
from inctnp.training.choices import pick
from inctnp.training.plain import telling_fields, to_plain
from inctnp.training.schedule import SCHEDULES

PRECISIONS = {"32-true": "float32 throughout", "bf16-mixed": "products in bfloat16, weights in float32"}


@dataclass(frozen=True, kw_only=True)
class Optimisation:
    """The optimiser and its schedule; the defaults are the paper's."""

    rate: float = 3e-4
    """Peak rate of AdamW."""
    muon_rate: float = 0.0
    """Peak rate of Muon on the matrices of the transformer; 0 leaves them to AdamW."""
    weight_decay: float = 0.01
    clip: float = 0.5
    """Largest norm of the gradient."""
    schedule: str = "cosine"
    warmup: float = 0.1
    """Fraction of the steps."""
    floor: float = 1e-6
    """Rate of AdamW at the end of the cosine, in absolute terms."""

    def __post_init__(self) -> None:
        pick(SCHEDULES, self.schedule, "schedule")
        if not (self.rate > 0 and self.clip > 0 and min(self.muon_rate, self.weight_decay, self.floor) >= 0):
            raise ConfigError("rate and clip must be positive; muon_rate, weight_decay and floor must not be negative.")
        if not 0 <= self.warmup < 1:
            raise ConfigError(f"warmup is a fraction of the steps, at least 0 and below 1, not {self.warmup}.")


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A stretch of training on one source of tasks."""

    share: float
    """Fraction of the steps."""
    data: TaskGenerator


@dataclass(frozen=True, kw_only=True)
class Start:
    """Weights that a run begins with instead of fresh ones."""

    name: str
    """A shipped model, or the folder of a saved one."""
    sha256: str
    """Of the weights, so that other weights under the same name are another run."""
    steps: int = 0
    """Taken before, in all runs that led to these weights."""
    cpu_hours: float = 0.0
    """Spent before."""
    seeds: tuple[int, ...] = ()
    """Of the tasks they were trained on."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that decides what a run computes."""

    name: str
    """Data setting, such as `rbf-64`."""
    model: ModelConfig
    phases: tuple[Phase, ...]
    """One for the paper's recipes; more make a curriculum."""
    validation: TaskGenerator
    """Held-out tasks, from a seed of their own; never those of the reported results."""
    steps: int
    optimisation: Optimisation = Optimisation()
    precision: str = "bf16-mixed"
    """`32-true`, or `bf16-mixed`: products in bfloat16, weights in float32."""
    seed: int = 0
    """Of the initial weights."""
    validation_batches: int = 32
    batches_per_step: int = 1
    """Batches whose gradients are averaged before a step; with w processes each of them takes so many."""
    start: Start | None = None
    """Weights to begin with; None draws fresh ones."""

    def __post_init__(self) -> None:
        if self.steps < 1 or abs(sum(phase.share for phase in self.phases) - 1) > 1e-9:
            raise ConfigError("A recipe needs at least one step, and phases whose shares add up to 1.")
        if min(self.batches_per_step, self.validation_batches) < 1:
            raise ConfigError("batches_per_step and validation_batches must be at least 1.")
        pick(PRECISIONS, self.precision, "precision")

    def data_at(self, step: int) -> TaskGenerator:
        """The source that the batches of step number `step` come from."""
        end = 0.0
        for phase in self.phases:
            end += phase.share
            if step < end * self.steps:
                return phase.data
        return self.phases[-1].data

    def as_dict(self) -> dict[str, Any]:
        """Every setting as plain values for a JSON file; sources carry their class name."""
        return dict(to_plain(self))

    @property
    def hash(self) -> str:
        """Identifies the run: equal settings, equal hash."""
        text = json.dumps(to_plain(self, telling_fields), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:10]
