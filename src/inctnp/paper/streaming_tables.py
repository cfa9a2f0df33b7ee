"""Log-likelihood of fixed targets while the rows of a real table stream in.  (Fig. 4, 17)"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import torch

from inctnp.baselines.wiski import WISKI, tabular_config
from inctnp.generators.real_tables import StreamingProtocol, TableStream, load_table
from inctnp.metrics.predictor import Predictor, per_point
from inctnp.paper.cast import Cast, Player
from inctnp.paper.cells import Cell, Values, listed
from inctnp.paper.markdown import Block, table, with_error
from inctnp.paper.plotting import curve, label, legend, name_axes, panels
from inctnp.paper.results import Results
from inctnp.paper.sources import PAPER_TABLES, table_missing, table_setup
from inctnp.training.recipes import TEST_SEED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WISKI_RATES = {"powerplant": 5e-2, "skillcraft": 5e-2}
"""Learning rates that the paper sets for two of the tables; the others take 1e-2."""
AT_EACH = "ll@"
"""Names of values: the log-likelihood after so many rows."""


@dataclass(frozen=True, kw_only=True)
class TableStreamSettings:
    """How long the streams are and how often they are run; the defaults are the paper's."""

    models: tuple[str, ...] = ("tnp-d", "inctnp", "inctnp-seq")
    permutations: int = 10
    checkpoints: int = 12
    """Lengths at which the targets are asked, from 32 rows to the end, doublings equally apart."""
    most_rows: int = 0
    """Streams are cut to this length; 0 leaves them."""
    most_targets: int = 0
    wiski_epochs: int = 200


def plan(settings: TableStreamSettings, cast: Cast) -> Iterator[Cell]:
    """One cell for each permutation of each table and model."""
    for name in PAPER_TABLES:
        for model in settings.models:
            player = cast.baseline(model) if model == "wiski" else cast.find("tabular", model)
            sizes = {"rows": settings.most_rows, "targets": settings.most_targets, "asked": settings.checkpoints}
            epochs = {"epochs": settings.wiski_epochs} if model == "wiski" else {}
            for permutation in range(settings.permutations):
                yield Cell(
                    labels={"data": name.capitalize(), "model": model, "part": permutation},
                    setup={**table_setup(name), **sizes, **epochs},
                    player=player,
                    measure=partial(measure, player, name, permutation, settings),
                    missing=table_missing(name),
                )


def measure(player: Player, name: str, permutation: int, settings: TableStreamSettings) -> Values:
    """Learn the rows in order; ask for all targets at every checkpoint."""
    dim_x = load_table(name).x.shape[-1] if player.model == "wiski" else 20
    protocol = StreamingProtocol(table=load_table(name), seed=TEST_SEED, dim_x=dim_x)
    stream = shortened(protocol.stream(permutation), settings.most_rows, settings.most_targets)
    if player.model == "wiski":
        wiski = tabular_config(dim_x, stream.rows, WISKI_RATES.get(name, 1e-2))
        model: Predictor = WISKI(replace(wiski, pretrain_epochs=settings.wiski_epochs))
    else:
        model = player.load()
    return scores_along(model, stream, lengths(stream.rows, settings.checkpoints))


def shortened(stream: TableStream, rows: int, targets: int) -> TableStream:
    """Its first rows and targets; 0 leaves them all."""
    order = stream.order[:rows] if rows else stream.order
    return replace(stream, order=order, targets=stream.targets[:targets] if targets else stream.targets)


def lengths(rows: int, count: int, first: int = 32) -> list[int]:
    """Lengths from `first` to `rows`, about equally apart on a log scale.

    >>> lengths(1024, 6)
    [32, 64, 128, 256, 512, 1024]
    """
    start = min(first, rows)
    ratio = (rows / start) ** (1 / max(1, count - 1))
    return sorted({min(rows, round(start * ratio**i)) for i in range(count)} | {rows})


@torch.no_grad()
def scores_along(model: Predictor, stream: TableStream, asked: Sequence[int]) -> Values:
    """Mean log-likelihood of the targets after each of these numbers of rows."""
    context, seen, values = model.empty(1), 0, {}
    for rows in asked:
        x, y = stream.context(seen, rows)
        context, seen = model.extend(context, x, y), rows
        xt, yt = stream.question(rows)
        values[f"{AT_EACH}{rows}"] = listed([per_point(model.query(context, xt).log_prob(yt)).mean().item()])
    return values


def tell(results: Results) -> Iterator[Block]:
    """Where each stream ends, and where it is a tenth of the way."""
    yield (
        "Log-likelihood per target, mean ± standard error over permutations of the table; targets and the statistics "
        "of the target column stay the same along a stream."
    )
    for data in results.labels("data"):
        here = results.where(data=data)
        at = rows_asked(here)
        shown = sorted({at[0], at[len(at) // 2], at[-1]})
        lines = [
            [label(model), *(with_error(here.where(model=model).score(f"{AT_EACH}{n}")) for n in shown)]
            for model in here.labels("model")
        ]
        yield f"### {data}"
        yield table(["model", *(f"after {n} rows" for n in shown)], lines)


def draw(results: Results) -> "Figure":
    """One panel for each table."""
    figure, axes = panels(4, width=2.9)
    for axis, name in zip(axes, PAPER_TABLES, strict=True):
        here = results.where(data=name.capitalize())
        draw_lengths(axis, here)
        name_axes(axis, "rows streamed", "log-likelihood" if axis is axes[0] else "", name.capitalize())
    legend(figure)
    return figure


def draw_lengths(axis: "Axes", results: Results) -> None:
    """Scores against the number of rows, a curve for each model."""
    at = rows_asked(results)
    for model in results.labels("model"):
        here = results.where(model=model)
        curve(axis, model, at, [here.score(f"{AT_EACH}{n}") for n in at])
    axis.set_xscale("log")


def rows_asked(results: Results, prefix: str = AT_EACH) -> list[int]:
    """The lengths at which something was measured."""
    return sorted({int(name.removeprefix(prefix)) for name in results.names() if name.startswith(prefix)})
