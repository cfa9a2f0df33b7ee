"""Log-likelihoods of every model on every kind of task with a static context.  (Tab. 1-3)"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from inctnp.metrics.cost import CostSettings, autoregressive_cost
from inctnp.metrics.log_likelihood import FACTORISED, JOINT, Deployment, scores_per_task
from inctnp.models.config import ModelConfig
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values, listed, parts_of
from inctnp.paper.sources import Source

FACTORISED_MODELS = ("tnp-d", "inctnp", "inctnp-seq", "cnp", "lbanp")
JOINT_MODELS = (*FACTORISED_MODELS, "tnp-a")
DEPLOYMENTS = {"factorised": FACTORISED, "AR": JOINT}
SECONDS = "AR seconds"


@dataclass(frozen=True, kw_only=True)
class Share:
    """How much of a source is tested."""

    source: Source
    batches: int
    joint_batches: int = 0
    """Batches that are also scored autoregressively."""
    part: int = 32
    """Batches in a row of results."""


@dataclass(frozen=True, kw_only=True)
class CostShare:
    """One autoregressive prediction, timed: the context, the targets and the unrolls."""

    data: str
    setting: str
    points: int
    targets: int
    draws: int


def score_cells(shares: Sequence[Share], cast: Cast) -> Iterator[Cell]:
    """Every model on every source, in parts."""
    for share in shares:
        for mode, models, batches in (
            ("factorised", FACTORISED_MODELS, share.batches),
            ("AR", JOINT_MODELS, share.joint_batches),
        ):
            for model in models:
                yield from _cells(share, mode, cast.find(share.source.setting, model), batches)


def cost_cells(cost: CostShare, cast: Cast) -> Iterator[Cell]:
    """The time of an autoregressive prediction with each model; its weights do not matter, its size does."""
    for model in JOINT_MODELS:
        player = cast.untrained(cost.setting, model)
        yield Cell(
            labels={"data": cost.data, "mode": SECONDS, "model": model},
            setup={"points": cost.points, "targets": cost.targets, "draws": cost.draws},
            player=player,
            measure=partial(_seconds, player, cost),
        )


def score_part(player: Player, source: Source, steps: range, deployment: Deployment) -> Values:
    """Batch means: the tasks of a batch share their number of points, so batches are what is independent."""
    model = player.load()
    scores, optima = [], []
    for step in steps:
        task = source.batch(step)
        scores.append(scores_per_task(model, [task], deployment).mean().item())
        if task.truth is not None:
            optima.append(deployment.optimum(task.truth, task).mean().item())
    if not optima:
        return {"ll": listed(scores)}
    gaps = [best - score for best, score in zip(optima, scores, strict=True)]
    return {"ll": listed(scores), "optimum": listed(optima), "gap": listed(gaps)}


def _cells(share: Share, mode: str, player: Player, batches: int) -> Iterator[Cell]:
    for part, steps in parts_of(batches, share.part):
        yield Cell(
            labels={"data": share.source.data, "mode": mode, "model": player.model, "part": part},
            setup={"source": share.source.setup, "steps": [steps.start, steps.stop]},
            player=player,
            measure=partial(score_part, player, share.source, steps, DEPLOYMENTS[mode]),
            missing=share.source.missing,
        )


def _seconds(player: Player, cost: CostShare) -> Values:
    config = player.config
    assert isinstance(config, ModelConfig)
    settings = CostSettings(targets=cost.targets, draws=cost.draws, dim_x=config.dim_x, repeats=1)
    (step,) = autoregressive_cost(player.load(), [cost.points], settings).steps
    return {"seconds": step.seconds, "flops": float(step.flops)}
