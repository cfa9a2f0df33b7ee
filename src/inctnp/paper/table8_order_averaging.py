"""Table 8: log-likelihood when predictions are averaged over K orders of the context."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from inctnp.metrics.log_likelihood import FACTORISED, scores_per_task
from inctnp.metrics.permutations import order_averaged_log_likelihood
from inctnp.paper.artefact import Artefact, scales
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values, listed, parts_of
from inctnp.paper.markdown import Block, number, table, with_error
from inctnp.paper.plotting import label
from inctnp.paper.reported import ORDER_AVERAGING, ORDER_AVERAGING_REFERENCE, Reported
from inctnp.paper.results import Results
from inctnp.paper.sources import Source, gp_source, tabular_source
from inctnp.seeding import generator
from inctnp.training.recipes import TEST_SEED

MODELS = ("inctnp", "inctnp-seq")
REFERENCE = "tnp-d"


@dataclass(frozen=True, kw_only=True)
class AveragingSettings:
    """How many tasks and orders; the defaults are the paper's orders."""

    orders: tuple[int, ...] = (1, 2, 10, 100)
    batches: int = 800
    """Of 16 tasks, for each kind of data."""
    batch_size: int = 16
    targets: int = 128
    longest: tuple[int, int, int] = (64, 512, 1024)
    """Contexts of the two Gaussian-process settings and of the tables."""
    part: int = 16


SMOKE = AveragingSettings(orders=(1, 2), batches=1, batch_size=2, targets=4, longest=(64, 512, 20))
CPU = AveragingSettings(orders=(1, 2, 10, 30), batches=16, part=4)


def sources(settings: AveragingSettings) -> Mapping[str, Source]:
    """The three kinds of data of the table."""
    size: dict[str, Any] = {"batch_size": settings.batch_size, "targets": settings.targets}
    short, long, rows = settings.longest
    return {
        "1D GP (64)": gp_source(short, **size),
        "1D GP (512)": gp_source(long, **size),
        "Tabular": tabular_source(context=(min(10, rows), rows), **size),
    }


def plan(settings: AveragingSettings, cast: Cast) -> Iterator[Cell]:
    """Both incremental models averaged, and TNP-D once: it knows no order."""
    for data, source in sources(settings).items():
        for model in (REFERENCE, *MODELS):
            player = cast.find(source.setting, model)
            orders = (1,) if model == REFERENCE else settings.orders
            for part, steps in parts_of(settings.batches, settings.part):
                yield Cell(
                    labels={"data": data, "model": model, "part": part},
                    setup={"source": source.setup, "steps": [steps.start, steps.stop], "orders": list(orders)},
                    player=player,
                    measure=partial(measure, player, source, steps, orders),
                )


def measure(player: Player, source: Source, steps: range, orders: Sequence[int]) -> Values:
    """Batch means for each K; the orders of a smaller K are the first of a larger."""
    model = player.load()
    values: dict[str, list[float]] = {f"ll@{k}": [] for k in orders}
    for step in steps:
        task = source.batch(step)
        if tuple(orders) == (1,):
            values["ll@1"] += listed(scores_per_task(model, [task], FACTORISED).mean())
            continue
        rng = generator(TEST_SEED, "averaged orders", step)
        for averaged in order_averaged_log_likelihood(model, [task], orders, rng):
            values[f"ll@{averaged.orders}"] += listed([averaged.score.mean])
    return values


def tell(results: Results) -> Iterator[Block]:
    """Differences from TNP-D for each K, and the gain from the first to the last."""
    orders = sorted({int(name.removeprefix("ll@")) for name in results.names()})
    yield (
        "Log-likelihood per target: TNP-D's, and for the others the difference from it on the same tasks for K orders."
    )
    lines = [_line(results.where(data=data), data, orders) for data in results.labels("data")]
    heads = [f"K = {k} (paper)" for k in orders]
    yield table(
        ["data, model", "TNP-D (paper)", *heads, f"gain 1 → {orders[-1]}"], [line for pair in lines for line in pair]
    )


def _line(here: Results, data: str, orders: Sequence[int]) -> list[list[str]]:
    reference = here.where(model=REFERENCE)
    known = f"{with_error(reference.score('ll@1'), 4)} ({number(ORDER_AVERAGING_REFERENCE[data], 4)})"
    return [
        [
            f"{data}, {label(model)}",
            known,
            *_entries(here.where(model=model), reference, ORDER_AVERAGING[data][model], orders),
        ]
        for model in MODELS
    ]


def _entries(
    mine: Results, reference: Results, reported: Mapping[int, Reported], orders: Sequence[int]
) -> Iterator[str]:
    for k in orders:
        paired = mine.difference(reference, f"ll@{k}", "ll@1")
        ours = with_error(paired, 4, signed=True) if paired else f"LL {with_error(mine.score(f'll@{k}'), 4)}"
        theirs = number(reported[k].mean, 4, signed=True) if k in reported else "—"
        yield f"{ours} ({theirs})"
    yield with_error(mine.difference(mine, f"ll@{orders[-1]}", f"ll@{orders[0]}"), 4, signed=True)


TABLE8 = Artefact(
    name="table8",
    title="averaging over context orders",
    shows=(
        "What an incremental model gains when its predictions are averaged over K random orders of the context. The "
        "paper finds small, consistent gains, most of them by K = 10."
    ),
    study="order-averaging",
    settings=scales(SMOKE, CPU, AveragingSettings()),
    plan=plan,
    tell=tell,
)
