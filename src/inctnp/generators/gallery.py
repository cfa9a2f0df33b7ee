"""One page that shows what every task source looks like: `python -m inctnp.generators.gallery --out page.png`."""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import torch
import typer

from inctnp.errors import MissingDataError
from inctnp.generators import files
from inctnp.generators.gp import DOMAIN, GPTasks
from inctnp.generators.kernels import NAMES
from inctnp.generators.real_tables import RECIPES, load_table
from inctnp.generators.shift import ShiftTasks
from inctnp.generators.station_files import AFRICA_EUROPE
from inctnp.generators.stations import StationTasks, station_tasks
from inctnp.generators.tabular_prior import TabularPrior
from inctnp.task import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

INK, BLUE, ORANGE, GREY = "#222222", "#2f6fb0", "#e07b39", "#9a9a9a"
TEMPERATURES = (0.0, 5.0, 10.0, 15.0, 20.0)
"""τ of the paper's figure."""
Row = tuple[str, int, Callable[[Sequence["Axes"], int], None]]


def main(
    out: Annotated[Path, typer.Option(help="Where the page goes; the ending decides the format.")] = Path(
        "gallery.png"
    ),
    seed: Annotated[int, typer.Option(help="Another seed shows other tasks.")] = 0,
) -> None:
    """Draw one page of plots of all task sources."""
    draw_page(seed).savefig(out, dpi=110)
    typer.echo(f"wrote {out}")


def draw_page(seed: int = 0) -> "Figure":
    """The whole page; a source whose data are absent says so in its place."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    rows: tuple[Row, ...] = (
        ("1-D Gaussian processes: context (black), exact posterior with its 95 % band, targets (orange)", 5, _kernels),
        ("Distribution shift: the change-surface kernel, t0 = 20", 3, _shift),
        ("Tabular prior: the target against the feature it follows most, coloured by the next", 6, _tabular_prior),
        ("UCI tables: the target against the feature it follows most", 4, _uci_tables),
        ("Weather stations", 4, _stations),
    )
    page = Figure(figsize=(17, 21), layout=ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.06))
    grid = page.add_gridspec(len(rows), 1, height_ratios=[1, 1, 0.9, 0.9, 1.35])
    for number, (title, columns, draw) in enumerate(rows):
        _draw_row(page.add_subfigure(grid[number]), title, columns, draw, seed)
    return page


def _draw_row(
    band: "SubFigure", title: str, columns: int, draw: Callable[[Sequence["Axes"], int], None], seed: int
) -> None:
    band.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold", color=INK)
    axes = band.subplots(1, columns, squeeze=False)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8, color=GREY)
    draw(axes, seed)


def _try(axis: "Axes", name: str, draw: Callable[["Axes"], None]) -> None:
    """Draw, or say in the panel what is missing."""
    try:
        draw(axis)
    except (MissingDataError, ModuleNotFoundError) as error:
        axis.clear()
        axis.set_axis_off()
        reason = textwrap.shorten(str(error), 220)
        axis.text(0, 0.5, textwrap.fill(f"{name} is not here. {reason}", 38), va="center", fontsize=8, color=GREY)


def _kernels(axes: Sequence["Axes"], seed: int) -> None:
    for number, (axis, family) in enumerate(zip(axes, NAMES, strict=True)):
        task = GPTasks(families=(family,), context=(9, 9), targets=40, batch_size=1, seed=seed).batch(number)
        grid = torch.linspace(*DOMAIN, 200)[None, :, None]
        asked = Task(xc=task.xc, yc=task.yc, xt=grid, yt=torch.zeros_like(grid), truth=task.truth)
        mean, std = (side[0] for side in task.truth.predict(asked))  # type: ignore[union-attr]
        x = grid[0, :, 0]
        axis.fill_between(x, mean - 1.96 * std, mean + 1.96 * std, color=BLUE, alpha=0.18, lw=0)
        axis.plot(x, mean, color=BLUE, lw=1.5)
        axis.plot(task.xt[0, :, 0], task.yt[0, :, 0], ".", color=ORANGE, ms=4)
        axis.plot(task.xc[0, :, 0], task.yc[0, :, 0], "o", color=INK, ms=5)
        axis.set_title(f"{family}, ℓ = {float(task.truth.kernel.lengthscale[0]):.2f}", fontsize=10)  # type: ignore[union-attr]


def _shift(axes: Sequence["Axes"], seed: int) -> None:
    stream = ShiftTasks(batch_size=1, context=(64, 64), temperature=5.0, seed=seed).stream(0)
    for step, shade in ((0, 0.25), (20, 0.55), (64, 0.9)):
        colour = _viridis(shade)
        axes[0].plot(stream.xt[0, :, 0], stream.yt[0, step], "o", color=colour, ms=3.5, label=f"step {step}")
    axes[0].set_title("the targets move from one function to another (τ = 5)", fontsize=10)
    axes[0].legend(fontsize=8, frameon=False)
    steps = np.arange(1, stream.points + 1)
    dots = axes[1].scatter(steps, stream.y[0, :, 0], c=stream.x[0, :, 0], cmap="viridis", s=22)
    axes[1].figure.colorbar(dots, ax=axes[1], label="x", pad=0.01)
    axes[1].axvline(20, color=ORANGE, lw=1)
    axes[1].set_title("what arrives, step by step", fontsize=10)
    axes[1].set_xlabel("step", fontsize=9)
    for number, temperature in enumerate(TEMPERATURES):
        source = ShiftTasks(batch_size=256, targets=32, temperature=temperature, seed=seed)
        optimum = source.stream(0).factorised_log_prob().mean(dim=(0, 2))
        axes[2].plot(optimum, color=_viridis(0.1 + 0.2 * number), lw=1.5, label=f"τ = {temperature:g}")
    axes[2].axvline(20, color=ORANGE, lw=1)
    axes[2].set_title("best possible factorised log-likelihood of the targets", fontsize=10)
    axes[2].set_xlabel("points seen", fontsize=9)
    axes[2].legend(fontsize=8, frameon=False)


def _viridis(value: float) -> tuple[float, float, float, float]:
    from matplotlib import colormaps

    red, green, blue, alpha = colormaps["viridis"](value)
    return red, green, blue, alpha


def _tabular_prior(axes: Sequence["Axes"], seed: int) -> None:
    task = TabularPrior(batch_size=len(axes), context=(500, 500), targets=1, seed=seed).batch(0)
    for number, axis in enumerate(axes):
        x, y = task.xc[number], task.yc[number, :, 0]
        used = (x != 0).any(dim=0).sum()
        first, second = _most_followed(x.numpy(), y.numpy())[:2]
        axis.scatter(x[:, first], y, c=x[:, second], cmap="viridis", s=7, lw=0)
        axis.set_title(f"{used} features", fontsize=10)


def _most_followed(x: np.ndarray, y: np.ndarray) -> list[int]:
    """Columns by their rank correlation with the target, those of few distinct values last."""
    ranks = x.argsort(axis=0).argsort(axis=0) - (len(x) - 1) / 2
    target = y.argsort().argsort() - (len(y) - 1) / 2
    strength = np.abs(ranks.T @ target)
    strength[[len(np.unique(column)) < 30 for column in x.T]] *= 1e-3
    strength[x.std(axis=0) == 0] = -1
    return [int(column) for column in np.argsort(-strength, kind="stable")]


def _uci_tables(axes: Sequence["Axes"], seed: int) -> None:
    for axis, name in zip(axes, RECIPES, strict=True):
        _try(axis, name.capitalize(), partial(_uci_table, name=name))


def _uci_table(axis: "Axes", name: str) -> None:
    table = load_table(name)
    x, y = table.x.numpy(), table.y[:, 0].numpy()
    first = _most_followed(x, y)[0]
    low, high = np.quantile(x[:, first], [0.002, 0.998])  # a few rows far out would squeeze the rest
    shown = (x[:, first] >= low) & (x[:, first] <= high)
    axis.hexbin(x[shown, first], y[shown], gridsize=42, cmap="Blues", bins="log", mincnt=1, linewidths=0.1)
    axis.set_title(f"{name}: {table.rows} rows, {x.shape[1]} features", fontsize=10)
    axis.set_xlabel(table.features[first] + (" (log)" if RECIPES[name].log else ""), fontsize=9)
    axis.set_ylabel(RECIPES[name].target, fontsize=9)


def _stations(axes: Sequence["Axes"], seed: int) -> None:
    _try(axes[0], "The HadISD station list", _station_map)
    dense = station_tasks("gsod-ecad", "test", context=(1200, 1200), batch_size=1, seed=seed)
    _try(axes[1], "The July 2011 file", partial(_station_task, source=dense))
    _try(axes[2], "The July 2011 file", partial(_station_task, source=replace(dense, goal="forecasting")))
    _try(axes[3], "French SYNOP", partial(_two_days, seed=seed))


def _station_map(axis: "Axes") -> None:
    import pandas as pd

    table = pd.read_csv(files.find("stations/hadisd_stations.csv.gz"))
    here = table[AFRICA_EUROPE.hold(table.lat.to_numpy(), table.lon.to_numpy())]
    bins = [np.arange(-10, 52.75, 0.75), np.arange(-20, 60.75, 0.75)]
    *_, image = axis.hist2d(here.lon, here.lat, bins=bins, cmap="magma_r", cmin=1, vmax=6)
    axis.figure.colorbar(image, ax=axis, label="stations per 0.75° patch", pad=0.01, shrink=0.8)
    _geography(axis, f"{len(here)} HadISD stations\nin the paper's region")


def _geography(axis: "Axes", title: str) -> None:
    axis.set_title(title, fontsize=10)
    axis.set_aspect(1.25)  # a degree of longitude is about 0.8 of one of latitude over most of these stations
    axis.set_xlabel("longitude", fontsize=9)
    axis.set_ylabel("latitude", fontsize=9)


def _places(source: StationTasks, x: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Longitude and latitude of scaled inputs."""
    box = source.fitted.region
    lat = (x[:, 0].numpy() + 1) / 2 * (box.north - box.south) + box.south
    return (x[:, 1].numpy() + 1) / 2 * (box.east - box.west) + box.west, lat


def _station_task(axis: "Axes", source: StationTasks) -> None:
    task, celsius = source.batch(0), source.fitted.to_celsius
    for x, y, size, ring in ((task.xc[0], task.yc[0], 7, 0.0), (task.xt[0], task.yt[0], 26, 0.6)):
        lon, lat = _places(source, x)
        shade = celsius(y[:, 0].numpy())
        dots = axis.scatter(
            lon, lat, c=shade, s=size, cmap="RdYlBu_r", vmin=5, vmax=35, edgecolors=INK, linewidths=ring
        )
    axis.figure.colorbar(dots, ax=axis, label="°C", pad=0.01, shrink=0.8)
    size_text = f"{task.xc.shape[1]} context, {task.xt.shape[1]} targets (ringed)"
    _geography(axis, f"{source.goal}, {source.file.name}\n{size_text}")


def _two_days(axis: "Axes", seed: int) -> None:
    source = station_tasks("synop-france", "test", goal="forecasting", context=(250, 250), batch_size=1, seed=seed)
    task, celsius = source.batch(0), source.fitted.to_celsius
    start = task.xc[0, 0, 3]
    for x, y, ring in ((task.xc[0], task.yc[0], "none"), (task.xt[0], task.yt[0], ORANGE)):
        spread = torch.rand(len(x), generator=torch.Generator().manual_seed(seed)) * 2 - 1
        _, lat = _places(source, x)
        hours = x[:, 3] - start + spread
        dots = axis.scatter(hours, celsius(y[:, 0].numpy()), c=lat, s=18, cmap="viridis", edgecolors=ring)
    axis.figure.colorbar(dots, ax=axis, label="latitude", pad=0.01, shrink=0.8)
    day = np.datetime64("2000-01-01T00", "h") + np.timedelta64(int(start), "h")
    axis.set_title(f"forecasting, {source.file.name}\n8 windows from {day} UTC, targets ringed", fontsize=10)
    axis.set_xlabel("hours", fontsize=9)
    axis.set_ylabel("°C", fontsize=9)
    axis.set_xticks(range(0, 48, 6))


if __name__ == "__main__":
    typer.run(main)
