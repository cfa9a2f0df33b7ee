"""Figure 13: the gradient noise-to-signal ratio as training goes on."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from inctnp.metrics.gradient_noise import gradient_noise
from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell, Values
from inctnp.paper.fig2_robustness import NARROW, TINY
from inctnp.paper.markdown import Block, number, table
from inctnp.paper.plotting import colour, label, legend, marker, name_axes, panels
from inctnp.paper.results import Results
from inctnp.paper.short_runs import NOT_REDUCED, Reduction, reduced_recipe, trained
from inctnp.training.measurements import GNSR_SEED
from inctnp.training.plain import to_plain
from inctnp.training.recipe import Recipe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODELS = ("inctnp", "inctnp-seq")
SETTING = "rbf-64"


@dataclass(frozen=True, kw_only=True)
class NoiseSettings:
    """When and on how many batches it is measured; the defaults have the paper's 80 000 samples."""

    checkpoints: tuple[int, ...] = (1000, 5000, 10_000, 25_000, 50_000, 100_000, 150_000, 200_000)
    """Steps of training."""
    batches: int = 5000
    rate: float = 3e-4
    reduction: Reduction = NOT_REDUCED


PAPER = NoiseSettings()
CPU = NoiseSettings(
    checkpoints=(50, 100, 200, 400, 800),
    batches=50,
    reduction=Reduction(steps=800, network=NARROW),
)
SMOKE = NoiseSettings(checkpoints=(1, 2), batches=3, reduction=TINY)


def plan(settings: NoiseSettings, cast: Cast) -> Iterator[Cell]:
    """The checkpoints of one run after the other: each goes on from the one before."""
    for model in MODELS:
        chosen = reduced_recipe(SETTING, model, settings.reduction, settings.rate, "cosine")
        for steps in settings.checkpoints:
            yield Cell(
                labels={"model": model, "steps": steps},
                setup={"recipe": chosen.hash, **to_plain(settings.reduction), "batches": settings.batches},
                player=cast.baseline(model),
                measure=partial(measure, chosen, steps, settings.batches),
            )


def measure(chosen: Recipe, steps: int, batches: int) -> Values:
    """Train up to here, then take the gradient of each of the fixed batches."""
    source = replace(chosen.phases[0].data, seed=GNSR_SEED)
    noise = gradient_noise(trained(chosen, steps), (source.batch(i) for i in range(batches)))
    return {"signal": noise.signal, "noise": noise.noise, "gnsr": noise.ratio, "unbiased": noise.unbiased_ratio}


def tell(results: Results) -> Iterator[Block]:
    """The ratio at every checkpoint."""
    setup = results.rows[0]["setup"]
    yield (
        f"Variance of the gradients of {setup['batches']} fixed batches of 16 tasks around their mean, over the "
        "squared norm of that mean: the paper's ratio. In brackets without the noise that is left in a mean of so few "
        "batches (the paper takes 5000)."
    )
    checkpoints = results.labels("steps")
    lines = [
        [label(model), *(_entry(results.where(model=model, steps=steps)) for steps in checkpoints)]
        for model in results.labels("model")
    ]
    yield table(["model", *(f"after {steps} steps" for steps in checkpoints)], lines)


def draw(results: Results) -> "Figure":
    """A curve for each model."""
    figure, (axis,) = panels(1, width=4.6, height=3.2)
    for model in results.labels("model"):
        here = results.where(model=model)
        axis.plot(
            here.labels("steps"),
            here.units("gnsr"),
            color=colour(model),
            marker=marker(model),
            ms=4,
            label=label(model),
        )
    axis.set_yscale("log")
    name_axes(axis, "training steps", "gradient noise-to-signal ratio")
    legend(figure)
    return figure


def _entry(here: Results) -> str:
    return f"{number(here.number('gnsr'), 2)} ({number(here.number('unbiased'), 2)})"


FIG13 = Artefact(
    name="fig13",
    title="gradient noise",
    shows=(
        "How much gradients change from batch to batch while a model is trained. The paper finds less noise for the "
        "dense training of incTNP-Seq throughout."
    ),
    study="gradient-noise",
    settings=scales(SMOKE, CPU, PAPER),
    plan=plan,
    tell=tell,
    draw=draw,
)
