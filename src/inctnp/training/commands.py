"""Commands of training: each parses, calls one library function and prints what came back."""

import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from inctnp.errors import ConfigError

if TYPE_CHECKING:
    from lightning_fabric import Fabric
    from rich.console import Console

    from inctnp.training.loop import Training
    from inctnp.training.progress import Report
    from inctnp.training.recipe import Recipe


class RecipeFirst(TyperGroup):
    """`inctnp train rbf-64` means `inctnp train recipe rbf-64`: the usual thing needs no name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = bool(args) and args[0] in self.commands
        return super().parse_args(ctx, args if named else ["recipe", *args])


train = typer.Typer(cls=RecipeFirst, add_completion=False)


@train.callback()
def _train() -> None:
    """Train a model, or go on with a run that was interrupted."""


@train.command("recipe")
def train_recipe(  # noqa: PLR0913  # one parameter per option
    setting: Annotated[str, typer.Argument(help="rbf-64, rbf-512, mixed-64, mixed-512, tabular, stations, ...")],
    model: Annotated[str, typer.Option(help="Which model to train.")] = "inctnp-seq",
    variant: Annotated[str, typer.Option(help="fast, paper or compute-equal.")] = "fast",
    budget: Annotated[float, typer.Option(help="Fraction of the recipe's steps; the schedule stretches.")] = 1.0,
    changes: Annotated[list[str] | None, typer.Option("--set", help="A setting, as optimisation.rate=0.001.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the weights and of the training tasks.")] = None,
    start: Annotated[str | None, typer.Option("--from", help="Begin with the weights of this model.")] = None,
    threads: Annotated[int, typer.Option(help="Processor threads per process.")] = 1,
    directory: Annotated[Path | None, typer.Option(help="Where the run is kept; the user cache if not given.")] = None,
    validate_every: Annotated[int, typer.Option(help="Steps between validations.")] = 1000,
    save_every: Annotated[float, typer.Option(help="Seconds between checkpoints.")] = 180.0,
    gnsr_every: Annotated[int, typer.Option(help="Steps between gradient-noise measurements; 0: none.")] = 0,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write TensorBoard files as well.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over; an earlier run is set aside.")] = False,
    accelerator: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "cpu",
    devices: Annotated[int, typer.Option(help="Processes on this machine.")] = 1,
    num_nodes: Annotated[int, typer.Option(help="Machines.")] = 1,
) -> None:
    """Train a model by a recipe, or go on with a run that was interrupted.

    `inctnp train finetune --help`: going on from trained weights with your own table.
    """
    fabric = _fabric(accelerator, devices, num_nodes, threads)
    from inctnp.training.loop import Training
    from inctnp.training.measurements import gnsr
    from inctnp.training.run_directory import RunDirectory, run_directory
    from inctnp.training.start import start_from

    chosen = choose_recipe(setting, model, variant, budget, seed, changes or [])
    chosen = start_from(chosen, start) if start else chosen
    folder = RunDirectory(directory) if directory else run_directory(setting, variant, chosen)
    fabric.launch()
    console = _console(fabric)
    if fresh and fabric.is_global_zero and (aside := folder.set_aside()):
        console.print(f"the earlier run is now in {aside}", soft_wrap=True, highlight=False)
    fabric.barrier()
    training = Training(
        recipe=chosen,
        directory=folder.path,
        fabric=fabric,
        every=validate_every,
        save_seconds=save_every,
        measurements=(gnsr(chosen, gnsr_every),) if gnsr_every else (),
    )
    _follow(training, console, tensorboard)


@train.command("finetune")
def train_finetune(  # noqa: PLR0913  # one parameter per option
    data: Annotated[list[Path], typer.Option(help="A CSV or Parquet file; may be given several times.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    start: Annotated[str, typer.Option("--from", help="A shipped model or the folder of a saved one.")] = "tabular",
    to: Annotated[Path, typer.Option(help="Folder for the result, for inctnp.load.")] = Path("finetuned"),
    time: Annotated[str | None, typer.Option(help="Column that orders the rows in time.")] = None,
    steps: Annotated[int, typer.Option(help="Steps of training.")] = 500,
    rate: Annotated[float, typer.Option(help="Peak learning rate.")] = 1e-4,
    batch_size: Annotated[int, typer.Option(help="Tasks per step.")] = 8,
    context: Annotated[int, typer.Option(help="Longest context, in rows.")] = 1024,
    seed: Annotated[int, typer.Option(help="Of the rows held out and of the tasks.")] = 0,
    threads: Annotated[int, typer.Option(help="Processor threads.")] = 1,
) -> None:
    """Go on from trained weights with your own tables; a fifth of the rows is held out and scored."""
    _fabric("cpu", 1, 1, threads)
    from inctnp.atomic import cache_dir
    from inctnp.generators.tables import read_table
    from inctnp.training.display import line
    from inctnp.training.finetune import FineTuning, finetune, finetune_recipe, save_finetuned

    tables = [read_table(path, target, time=time) for path in data]
    settings = FineTuning(steps=steps, rate=rate, batch_size=batch_size, context=context, seed=seed)
    chosen = finetune_recipe(start, tables, settings)
    directory = cache_dir() / "runs" / "finetune" / f"{tables[0].name}-{chosen.hash}"
    every = max(1, steps // 5)
    result = finetune(chosen, directory, lambda report: typer.echo(line(report, steps)), every)
    _leave_if_stopped(result.training)
    typer.echo(f"held-out rows: {result.before:.4f} before, {result.after:.4f} after")
    if result.after <= result.before:
        typer.echo("Fine-tuning did not help on rows it had not seen: fewer steps or a lower rate may.", err=True)
    typer.echo(f"inctnp.load({str(save_finetuned(result, to, tables))!r})")


def export_run(
    run: Annotated[Path, typer.Argument(help="The folder of a run, as `inctnp train` prints it.")],
    to: Annotated[Path, typer.Option(help="Where config.json, model.safetensors and card.md go.")],
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16: how weights are stored.")] = "float32",
    batches: Annotated[int, typer.Option(help="Batches of held-out tasks to measure on.")] = 64,
    threads: Annotated[int, typer.Option(help="Processor threads.")] = 1,
) -> None:
    """Make a model that inctnp.load opens out of a run, measured on fresh held-out tasks."""
    import torch

    from inctnp.training.export import export

    torch.set_num_threads(threads)
    about = export(run, to, dtype=dtype, batches=batches)
    for name, value in {**about.get("held_out", {}), "change by storing": about.get("change_by_storing")}.items():
        typer.echo(f"{name:>20}  {value}")
    typer.echo(f"inctnp.load({str(to)!r})")


def choose_recipe(
    setting: str, model: str, variant: str, budget: float, seed: int | None, changes: list[str]
) -> "Recipe":
    """A recipe with its changes; a seed of one's own means other weights and other tasks."""
    from inctnp.training.overrides import override
    from inctnp.training.recipes import recipe

    seeded = [] if seed is None else [f"seed={seed}", f"phases.*.data.seed={seed}"]
    return override(recipe(setting, model, variant, budget), [*seeded, *changes])


def resume_command(arguments: list[str]) -> str:
    """What to type to go on.

    >>> resume_command(["train", "rbf-64", "--fresh", "--set", "steps=9"])
    'inctnp train rbf-64 --set steps=9'
    """
    return shlex.join(["inctnp", *(word for word in arguments if word != "--fresh")])


def _fabric(accelerator: str, devices: int, num_nodes: int, threads: int) -> "Fabric":
    import torch

    torch.set_num_threads(threads)
    try:
        from lightning_fabric import Fabric
    except ImportError as error:
        raise ConfigError("Training takes lightning-fabric: install inctnp[train].") from error
    strategy = "ddp" if devices * num_nodes > 1 else "auto"
    return Fabric(accelerator=accelerator, devices=devices, num_nodes=num_nodes, strategy=strategy)


def _console(fabric: "Fabric") -> "Console":
    """The first process speaks for all."""
    from rich.console import Console

    return Console(quiet=not fabric.is_global_zero)


def _follow(training: "Training", console: "Console", tensorboard: bool) -> None:
    """Run it to its end or to a signal, and say where it stands."""
    from inctnp.training.display import choose_display
    from inctnp.training.tensorboard import tensorboard_teller

    step = training.folder.step()
    console.print(f"run {training.directory}", soft_wrap=True, highlight=False)
    console.print(f"going on from step {step}" if step else "starting from step 0", highlight=False)
    with choose_display(console, training.recipe.steps) as display:
        tellers = [display.tell, *([tensorboard_teller(training.directory / "tensorboard")] if tensorboard else [])]
        training.tell, training.tick = _all_of(tellers), display.tick
        training.run()
    _leave_if_stopped(training)
    console.print(f"complete: inctnp export {shlex.quote(str(training.directory))} --to FOLDER", soft_wrap=True)


def _all_of(tellers: "list[Callable[[Report], None]]") -> "Callable[[Report], None]":
    def tell(report: "Report") -> None:
        for each in tellers:
            each(report)

    return tell


def _leave_if_stopped(training: "Training") -> None:
    """Exit as a process does that the signal ended, once everything is saved."""
    if training.stopped_by and training.fabric is not None and not training.fabric.is_global_zero:
        raise typer.Exit(128 + training.stopped_by)
    if training.stopped_by:
        name = signal.Signals(training.stopped_by).name
        typer.echo(f"{name}: saved at step {training.folder.step()}. To go on: {resume_command(sys.argv[1:])}")
        raise typer.Exit(128 + training.stopped_by)
