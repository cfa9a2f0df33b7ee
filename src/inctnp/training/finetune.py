"""Going on from trained weights with tables of one's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from inctnp.errors import ConfigError, DataError
from inctnp.generators.base import TaskGenerator, draw_size
from inctnp.generators.tables import Table, TableTasks, make_task
from inctnp.models.base import NeuralProcess
from inctnp.pretrained.registry import load
from inctnp.pretrained.weights import save_pretrained
from inctnp.seeding import generator
from inctnp.task import Task
from inctnp.training.export import write_card
from inctnp.training.loop import Training
from inctnp.training.progress import Report
from inctnp.training.recipe import Optimisation, Phase, Recipe
from inctnp.training.run_directory import RunDirectory
from inctnp.training.start import start
from inctnp.training.validation import Validator

FEWEST_ROWS = 20


@dataclass(frozen=True, kw_only=True)
class FineTuning:
    """How far and how fast; the defaults move a trained model gently."""

    steps: int = 500
    rate: float = 1e-4
    """A tenth of the rate the weights were trained with, or less."""
    batch_size: int = 8
    context: int = 1024
    """Longest context, where the table has as many rows."""
    targets: int = 128
    held_out: float = 0.2
    """Share of the rows that are never trained on: the last ones of a table in order of time, else random ones."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.held_out < 1:
            raise ConfigError(f"held_out is a share of the rows between 0 and 1, not {self.held_out}.")


@dataclass(frozen=True)
class FineTuned:
    """The result of fine-tuning."""

    model: NeuralProcess
    before: float
    """Log-likelihood of held-out rows with the weights it began with."""
    after: float
    recipe: Recipe
    training: Training


@dataclass(frozen=True, kw_only=True)
class HeldOutRows(TaskGenerator):
    """Rows that were kept back, asked after from contexts of rows that were not: as the model will be used."""

    table: Table
    seen: torch.Tensor
    """Numbers of the rows that were trained on."""
    kept: torch.Tensor
    """Numbers of those that were not."""
    context: tuple[int, int]
    targets: int
    dim_x: int

    def draw(self, rng: torch.Generator) -> Task:
        context = draw_size(self.context, rng)
        rows = torch.stack([self._rows(context, rng) for _ in range(self.batch_size)])
        return make_task(self.table, rows, context, self.dim_x)

    def _rows(self, context: int, rng: torch.Generator) -> torch.Tensor:
        if self.table.ordered:
            last = int(torch.randint(len(self.kept) - self.targets + 1, (), generator=rng))
            asked = self.kept[last : last + self.targets]
            return torch.cat([torch.arange(int(asked[0]) - context, int(asked[0])), asked])
        seen = self.seen[torch.randperm(len(self.seen), generator=rng)[:context]]
        return torch.cat([seen, self.kept[torch.randperm(len(self.kept), generator=rng)[: self.targets]]])


@dataclass(frozen=True, kw_only=True)
class MixedTables(TaskGenerator):
    """Each batch from one of several tables, chosen at random."""

    sources: tuple[TaskGenerator, ...]

    def draw(self, rng: torch.Generator) -> Task:
        return self.sources[int(torch.randint(len(self.sources), (), generator=rng))].draw(rng)


def finetune_recipe(name: str, tables: Sequence[Table], settings: FineTuning) -> Recipe:
    """The run that goes on from the weights of this name with these tables."""
    model = load(name).float()
    pairs = [_sources(table, settings, model.config.dim_x) for table in tables]
    if not pairs:
        raise ConfigError("Fine-tuning takes at least one table.")
    return Recipe(
        name="finetune",
        model=model.config,
        phases=(Phase(share=1.0, data=_mixed([train for train, _ in pairs], settings)),),
        validation=_mixed([held for _, held in pairs], settings),
        steps=settings.steps,
        optimisation=Optimisation(rate=settings.rate),
        precision="32-true",
        seed=settings.seed,
        start=start(name, model),
    )


def finetune(
    recipe: Recipe, directory: Path, tell: Callable[[Report], None] = lambda report: None, every: int = 100
) -> FineTuned:
    """Train, or go on with training; answers the model and what it gained on held-out rows."""
    assert recipe.start is not None
    training = Training(recipe=recipe, directory=directory, tell=tell, every=every)
    validator = Validator(recipe.validation, recipe.validation_batches)
    before = validator.score(load(recipe.start.name).float()).log_likelihood
    model = training.run().eval()
    return FineTuned(model, before, validator.score(model).log_likelihood, recipe, training)


def save_finetuned(result: FineTuned, to: Path, tables: Sequence[Table]) -> Path:
    """A folder for `inctnp.load`, with its card; the rows themselves are in none of its files."""
    assert result.recipe.start is not None
    taken, began = RunDirectory(result.training.directory).rows()[-1], result.recipe.start
    about = {
        "recipe": "finetune",
        "began_with": began.name,
        "config_hash": result.recipe.hash,
        "steps": began.steps + taken["step"],
        "steps_planned": began.steps + result.recipe.steps,
        "cpu_hours": round(began.cpu_hours + taken["cpu_seconds"] / 3600, 3),
        "held_out": {"log_likelihood": round(result.after, 5), "before": round(result.before, 5)},
        "tables": [f"{table.name} ({table.rows} rows, {len(table.features)} features)" for table in tables],
        "data": [type(result.recipe.phases[0].data).__name__],
    }
    save_pretrained(result.model, to, about=about)
    write_card(result.model, to, about)
    return to


def _sources(table: Table, settings: FineTuning, dim_x: int) -> tuple[TaskGenerator, TaskGenerator]:
    """Tasks of the rows to learn from, and tasks that ask after the others."""
    count = round(table.rows * settings.held_out)
    if table.rows < FEWEST_ROWS or count < 1 or table.rows - count < FEWEST_ROWS // 2:
        raise DataError(
            f"Table {table.name} has {table.rows} rows: fine-tuning takes at least {FEWEST_ROWS}, "
            f"of which a share of {settings.held_out} is held out."
        )
    order = torch.arange(table.rows)
    if not table.ordered:
        order = torch.randperm(table.rows, generator=generator(settings.seed, "held-out rows"))
    seen, kept = order[:-count].sort().values, order[-count:].sort().values
    targets = min(settings.targets, len(seen) // 4)
    longest = min(settings.context, len(seen) - targets)
    context = (min(10, longest), longest)
    part = replace(table, x=table.x[seen], y=table.y[seen])
    train = TableTasks(
        table=part, batch_size=settings.batch_size, context=context, targets=targets, dim_x=dim_x, seed=settings.seed
    )
    held = HeldOutRows(
        table=table,
        seen=seen,
        kept=kept,
        batch_size=settings.batch_size,
        context=context,
        targets=min(targets, count),
        dim_x=dim_x,
    )
    return train, held


def _mixed(sources: list[TaskGenerator], settings: FineTuning) -> TaskGenerator:
    return sources[0] if len(sources) == 1 else MixedTables(sources=tuple(sources), seed=settings.seed)
