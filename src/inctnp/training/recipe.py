"""A run is a value: what is trained, on what, how long and how fast."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from inctnp.errors import ConfigError
from inctnp.generators.base import TaskGenerator
from inctnp.models.config import ModelConfig


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


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A stretch of training on one source of tasks."""

    share: float
    """Fraction of the steps."""
    data: TaskGenerator


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

    def __post_init__(self) -> None:
        if self.steps < 1 or abs(sum(phase.share for phase in self.phases) - 1) > 1e-9:
            raise ConfigError("A recipe needs at least one step, and phases whose shares add up to 1.")

    def data_at(self, step: int) -> TaskGenerator:
        """The source that batch number `step` comes from."""
        end = 0.0
        for phase in self.phases:
            end += phase.share
            if step < end * self.steps:
                return phase.data
        return self.phases[-1].data

    def as_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file; sources carry their class name."""
        plain = dataclasses.asdict(self)
        for phase, described in zip(self.phases, plain["phases"], strict=True):
            described["data"]["source"] = type(phase.data).__name__
        plain["validation"]["source"] = type(self.validation).__name__
        return plain

    @property
    def hash(self) -> str:
        """Identifies the run: equal settings, equal hash."""
        text = json.dumps(self.as_dict(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:10]
