"""Table 1: average test log-likelihood with a static context, factorised (a) and autoregressive (b)."""

from collections.abc import Iterator
from dataclasses import dataclass

from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast
from inctnp.paper.cells import Cell
from inctnp.paper.markdown import Block, number, table
from inctnp.paper.plotting import label
from inctnp.paper.reported import AUTOREGRESSIVE, COST_RATIO, FACTORISED
from inctnp.paper.results import Results
from inctnp.paper.score_tables import difference_table, gap_table
from inctnp.paper.sources import (
    COLLECTIONS,
    FULL_SIZE,
    PAPER_TABLES,
    StationSize,
    gp_source,
    station_source,
    table_source,
    tabular_source,
)
from inctnp.paper.static_scores import (
    FACTORISED_MODELS,
    JOINT_MODELS,
    SECONDS,
    CostShare,
    Share,
    cost_cells,
    score_cells,
)

GOALS = ("interpolation", "forecasting")


@dataclass(frozen=True, kw_only=True)
class StaticSettings:
    """How many tasks of which size; the defaults are the paper's."""

    batches: int = 5000
    """Of 16 tasks, for Gaussian processes and synthetic tables."""
    joint_batches: int = 256
    gp_longest: int = 64
    gp_targets: int = 128
    tabular_longest: int = 1024
    table_draws: int = 50
    most_context: int = 0
    """Cut the contexts of real tables to this many rows; 0 leaves them."""
    most_targets: int = 0
    station_batches: int = 10_000
    """Of 8 windows."""
    station_joint_batches: int = 512
    station_part: int = 64
    """Batches in a row of results."""
    station_size: StationSize = FULL_SIZE
    batch_size: int = 16
    cost_draws: int = 50
    cost_context: int = 1100
    """Of the station-sized prediction that is timed: the middle of the paper's contexts."""
    cost_targets: int = 250


SMOKE = StaticSettings(
    batches=2,
    joint_batches=1,
    gp_longest=64,
    gp_targets=8,
    tabular_longest=40,
    table_draws=2,
    most_context=64,
    most_targets=32,
    station_batches=1,
    station_joint_batches=1,
    station_size=StationSize(batch_size=2, context=(20, 40), targets=6),
    batch_size=4,
    cost_draws=2,
    cost_context=32,
    cost_targets=6,
)
CPU = StaticSettings(
    batches=128,
    joint_batches=12,
    table_draws=4,
    most_context=4096,
    most_targets=2048,
    station_batches=64,
    station_joint_batches=2,
    station_part=8,
    cost_draws=8,
    cost_context=1100,
    cost_targets=50,
)


def shares(settings: StaticSettings) -> Iterator[Share]:
    """Everything that is scored."""
    size = settings.batch_size
    gp = gp_source(settings.gp_longest, targets=settings.gp_targets, batch_size=size)
    yield Share(source=gp, batches=settings.batches, joint_batches=settings.joint_batches)
    context = (min(10, settings.tabular_longest), settings.tabular_longest)
    tabular = tabular_source(context=context, targets=settings.gp_targets, batch_size=size)
    yield Share(source=tabular, batches=settings.batches, part=16)
    for name in PAPER_TABLES:
        source = table_source(name, settings.most_context, settings.most_targets)
        yield Share(source=source, batches=settings.table_draws, part=2)
    for setting in COLLECTIONS:
        for goal in GOALS:
            source = station_source(setting, goal, settings.station_size)
            yield Share(
                source=source,
                batches=settings.station_batches,
                joint_batches=settings.station_joint_batches,
                part=settings.station_part,
            )


def costs(settings: StaticSettings) -> list[CostShare]:
    """The two predictions whose time the paper compares."""
    targets, draws = settings.gp_targets, settings.cost_draws
    gp = CostShare(data="1D GP", setting="rbf-64", points=32, targets=targets, draws=draws)
    points, targets = settings.cost_context, settings.cost_targets
    stations = CostShare(
        data="Temperature (HadISD sizes)", setting="stations", points=points, targets=targets, draws=draws
    )
    return [gp, stations]


def plan(settings: StaticSettings, cast: Cast) -> list[Cell]:
    """Scores first, then times."""
    timed = [cell for cost in costs(settings) for cell in cost_cells(cost, cast)]
    return [*score_cells(list(shares(settings)), cast), *timed]


def tell(results: Results) -> Iterator[Block]:
    """Both tables of the paper, and the gap to the optimum where it is known."""
    yield from score_blocks(results, digits=3, errors=False)
    if times := results.where(mode=SECONDS).rows:
        yield "Time of an autoregressive prediction relative to incTNP-Seq, on this processor (the paper: GPUs)."
        yield _ratios(Results(times))


def score_blocks(results: Results, digits: int, errors: bool) -> Iterator[Block]:
    """The two tables, with or without standard errors."""
    factorised, joint = results.where(mode="factorised"), results.where(mode="AR")
    yield "## (a) Factorised"
    yield (
        "Log-likelihood per target: TNP-D's own, and for the others the difference Δ from it on the same tasks; where "
        "TNP-D has no weights the log-likelihood itself, marked LL. In brackets the paper's number, which for "
        "temperatures is of HadISD."
    )
    for part, models, reported in (
        (factorised, FACTORISED_MODELS, FACTORISED),
        (joint, JOINT_MODELS, AUTOREGRESSIVE),
    ):
        if part is joint:
            yield "## (b) Autoregressive"
        yield difference_table(part, models, reported, digits, errors)
        if gaps := gap_table(part, models):
            yield "Gap to the exact posterior on the same tasks, in nats per target (smaller is better)."
            yield gaps


def _ratios(times: Results) -> Block:
    lines = []
    for data in times.labels("data"):
        here = times.where(data=data)
        base = here.where(model="inctnp-seq").number("seconds")
        ratios = [
            _ratio(here.where(model=model).number("seconds"), base, COST_RATIO[data].get(model))
            for model in JOINT_MODELS
        ]
        lines.append([data, *ratios])
    return table(["data", *(f"{label(model)} (paper)" for model in JOINT_MODELS)], lines)


def _ratio(seconds: float | None, base: float | None, reported: float | None) -> str:
    ours = seconds / base if seconds is not None and base else None
    return f"{number(ours, 2)} ({number(reported, 2)})"


TABLE1 = Artefact(
    name="table1",
    title="average test log-likelihood with a static context",
    shows=(
        "How well each model predicts from a context that is given all at once: factorised, and autoregressively with "
        "the true targets fed back. The paper finds incTNP-Seq level with TNP-D or better, at a fraction of the "
        "autoregressive cost."
    ),
    study="static",
    settings=scales(SMOKE, CPU, StaticSettings()),
    plan=plan,
    tell=tell,
)
