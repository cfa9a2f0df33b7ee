"""Temperature at weather stations: interpolation and forecasting in windows of a few days.  (Appendix D)

Inputs are [latitude, longitude, elevation, time]: latitude and longitude scaled so that the region is [-1, 1],
elevation z-scored, time in hours since 2000-01-01 and never wrapped. Whole hours are exact in float32 (see
`station_records`). The output is z-scored temperature. Every statistic comes from the training days.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int

from inctnp.errors import ConfigError, DataError
from inctnp.generators.base import TaskGenerator, check_range, draw_size
from inctnp.generators.station_files import HADISD, Region, StationFile, station_file
from inctnp.generators.station_pack import StationPack, open_pack
from inctnp.task import Task

GOALS = ("interpolation", "forecasting")
CHUNK = 1 << 22
"""Observations summed at a time."""


@dataclass(frozen=True, kw_only=True)
class StationScaling:
    """Between physical units and a model's inputs and output; store it with the model."""

    region: Region
    elev_mean: float
    elev_std: float
    celsius_mean: float
    celsius_std: float

    def inputs(
        self, places: Float[np.ndarray, "*point 3"], hours: Int[np.ndarray, "*point"]
    ) -> Float[np.ndarray, "*point 4"]:
        """From latitude, longitude, elevation and hours since the epoch."""
        box = self.region
        lat = 2 * (places[..., 0] - box.south) / (box.north - box.south) - 1
        lon = 2 * (places[..., 1] - box.west) / (box.east - box.west) - 1
        elev = (places[..., 2] - self.elev_mean) / self.elev_std
        return np.stack([lat, lon, elev, hours.astype(np.float64)], axis=-1)

    def outputs(self, celsius: Float[np.ndarray, "*point"]) -> Float[np.ndarray, "*point"]:
        return (celsius - self.celsius_mean) / self.celsius_std

    def to_celsius(self, y: Float[np.ndarray, "*point"]) -> Float[np.ndarray, "*point"]:
        return y * self.celsius_std + self.celsius_mean


@dataclass(frozen=True, kw_only=True)
class StationTasks(TaskGenerator):
    """Windows of H snapshots, δ hours apart, over all stations of a file.

    A batch shares its number of points. N_c is drawn once per batch and lowered, where needed, to what the poorest of
    its tasks offers beside the targets; windows too poor for the smallest context are never drawn. The windows of a
    task lie in one part of the file. Observations of one instant come in random order, those of a later one after them.
    """

    file: StationFile = HADISD
    part: str = "train"
    goal: str = "interpolation"
    """`interpolation`: targets at random in space and time; `forecasting`: all from the last window, context before."""
    windows: int = 8
    """H: 8 snapshots are 48 hours, 4 are 24."""
    delta: int = 6
    """δ, in hours."""
    width: int = 1
    """Hours of observations that make one snapshot; 1 is the full hour alone."""
    context: tuple[int, int] = (100, 2100)
    targets: int = 250
    scaling: StationScaling | None = None
    """That of another model's data; None takes it from this file's training days."""
    batch_size: int = 32

    def __post_init__(self) -> None:
        check_range("context", self.context, least=1)
        if self.windows < 2 or not 1 <= self.width <= self.delta or self.targets < 1:
            raise ConfigError(
                f"A station task needs at least 2 windows (here {self.windows}), 1 <= width <= delta "
                f"(here {self.width} and {self.delta}) and at least one target (here {self.targets})."
            )
        if self.goal not in GOALS:
            raise ConfigError(f"goal must be one of {', '.join(GOALS)}, not {self.goal!r}.")
        self.file.span(self.part)

    @property
    def fitted(self) -> StationScaling:
        """The scaling in use."""
        return self.scaling or training_scaling(self.file)

    def draw(self, rng: torch.Generator) -> Task:
        pack, choice = open_pack(self.file), _choices(self)
        begin, end = self._slices(pack, choice.draw(self.batch_size, rng))
        offered = self._offer(end - begin)
        context = min(draw_size(self.context, rng), int(offered.min()))
        rows = np.stack([self._pick(first, last, context, rng) for first, last in zip(begin, end, strict=True)])
        x, y = self._values(pack, rows)
        return Task(xc=x[:, :context], yc=y[:, :context], xt=x[:, context:], yt=y[:, context:])

    def _slices(
        self, pack: StationPack, starts: Int[np.ndarray, " task"]
    ) -> tuple[Int[np.ndarray, "task window"], Int[np.ndarray, "task window"]]:
        """Where the snapshots of tasks begin and end in the pack."""
        hours = starts[:, None] + self.delta * np.arange(self.windows)
        return pack.before(hours), pack.before(hours + self.width)

    def _offer(self, counts: Int[np.ndarray, "task window"]) -> Int[np.ndarray, " task"]:
        """How many context points a task can have, given what its snapshots hold; negative when targets lack."""
        if self.goal == "interpolation":
            return np.asarray(counts.sum(axis=1) - self.targets)
        return np.where(counts[:, -1] >= self.targets, counts[:, :-1].sum(axis=1), -1)

    def _pick(
        self, begin: Int[np.ndarray, " window"], end: Int[np.ndarray, " window"], context: int, rng: torch.Generator
    ) -> Int[np.ndarray, " point"]:
        """Positions in the pack: the context in order of time, then the targets in random order."""
        if self.goal == "interpolation":
            chosen = _sample(begin, end, context + self.targets, rng)
            seen, asked = chosen[:context], chosen[context:]
        else:
            seen = _sample(begin[:-1], end[:-1], context, rng)
            asked = _sample(begin[-1:], end[-1:], self.targets, rng)
        return np.concatenate([seen, asked])

    def _values(self, pack: StationPack, rows: Int[np.ndarray, "task point"]) -> tuple[torch.Tensor, torch.Tensor]:
        context = rows.shape[1] - self.targets
        hours = pack.hours[rows]
        # Stable, so that stations of one instant keep their random order: a fixed one would be learned.
        order = np.argsort(hours[:, :context], axis=1, kind="stable")
        rows[:, :context] = np.take_along_axis(rows[:, :context], order, axis=1)
        hours[:, :context] = np.take_along_axis(hours[:, :context], order, axis=1)
        x = self.fitted.inputs(pack.places[pack.station[rows]], hours)
        y = self.fitted.outputs(pack.celsius[rows])
        return torch.from_numpy(x).float(), torch.from_numpy(y).float().unsqueeze(-1)


def station_tasks(name: str, part: str = "train", **changes: Any) -> StationTasks:
    """Tasks of a known file at the sizes it supports.

    >>> station_tasks("gsod-cities", "test", goal="forecasting").delta
    24
    """
    file = station_file(name)
    sizes = {"windows": file.windows, "delta": file.delta, "context": file.context, "targets": file.targets}
    return StationTasks(**{"file": file, "part": part, **sizes, **changes})


@lru_cache(maxsize=16)
def training_scaling(file: StationFile) -> StationScaling:
    """Means and deviations over the training observations; latitude and longitude by the region."""
    pack = open_pack(file)
    first, last = (int(bound) for bound in pack.before(np.array(file.span("train"))))
    if first == last:
        raise DataError(
            f"{file.name} has no observation between {file.train[0]} and {file.train[1]}: nothing to scale by."
        )
    per_station = np.zeros(len(pack.stations))
    total = squares = 0.0
    for start in range(first, last, CHUNK):
        rows = slice(start, min(start + CHUNK, last))
        values = pack.celsius[rows].astype(np.float64)
        total, squares = total + values.sum(), squares + (values**2).sum()
        per_station += np.bincount(pack.station[rows], minlength=len(per_station))
    count, elev = last - first, pack.places[:, 2]
    elev_mean = float(per_station @ elev / count)
    elev_variance = float(per_station @ (elev - elev_mean) ** 2 / count)
    variance = squares / count - (total / count) ** 2
    if elev_variance <= 0 or variance <= 0:
        raise DataError(f"The training days of {file.name} have one elevation or one temperature: nothing to scale by.")
    return StationScaling(
        region=file.region,
        elev_mean=elev_mean,
        elev_std=elev_variance**0.5,
        celsius_mean=float(total / count),
        celsius_std=float(variance**0.5),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Choice:
    """Hours at which a task may start, weighted by how much was observed in the windows that follow."""

    hours: Int[np.ndarray, " start"]
    cumulative: Int[np.ndarray, " start"]

    def draw(self, count: int, rng: torch.Generator) -> Int[np.ndarray, " task"]:
        ticket = torch.randint(int(self.cumulative[-1]), (count,), generator=rng).numpy()
        return np.asarray(self.hours[np.searchsorted(self.cumulative, ticket, side="right")])


# Equal sources share it; it is found again in a worker instead of being sent there.
@lru_cache(maxsize=64)
def _choices(source: StationTasks) -> _Choice:
    pack = open_pack(source.file)
    first, stop = source.file.span(source.part)
    last = stop - (source.windows - 1) * source.delta - source.width
    hours = np.arange(first, last + 1)
    begin, end = source._slices(pack, hours)
    counts = end - begin
    offered = source._offer(counts) if len(hours) else np.zeros(0, dtype=np.int64)
    valid = (offered >= source.context[0]) & (counts[:, 0] > 0)
    if not valid.any():
        raise DataError(
            f"No {source.windows} windows of {source.delta} hours in the {source.part} part of {source.file.name} hold "
            f"{source.context[0]} context points and {source.targets} targets for {source.goal}: the fullest hold "
            f"{int(counts.sum(axis=1).max(initial=0))} observations, {int(counts[:, -1].max(initial=0))} of them in "
            "the last window. Choose a smaller context or fewer targets, or fewer windows if the part is short."
        )
    return _Choice(hours=hours[valid], cumulative=np.cumsum(counts[valid].sum(axis=1)))


def _sample(
    begin: Int[np.ndarray, " window"], end: Int[np.ndarray, " window"], count: int, rng: torch.Generator
) -> Int[np.ndarray, " point"]:
    """Distinct positions out of several slices, in random order."""
    cumulative = np.cumsum(end - begin)
    ticket = torch.randperm(int(cumulative[-1]), generator=rng)[:count].numpy()
    window = np.searchsorted(cumulative, ticket, side="right")
    return np.asarray(end[window] - cumulative[window] + ticket)
