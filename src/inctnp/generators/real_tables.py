"""The four UCI tables of the paper, and its two ways of asking them: static and streaming.  (appendix D)"""

import gzip
import io
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError, DataError, UnknownNameError
from inctnp.generators.base import TaskGenerator
from inctnp.generators.files import find
from inctnp.generators.scaling import Standard
from inctnp.generators.tables import CLIP, DIM_X, Table, check_width, make_task, pad
from inctnp.seeding import generator
from inctnp.task import Task

STATIC_DRAWS = 50
"""Tasks a static result is averaged over."""
PERMUTATIONS = 10
"""Streams a streaming result is averaged over."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How the paper makes a table out of a file."""

    file: str
    target: str
    rows: int
    """N of the paper."""
    drop: tuple[str, ...] = ()
    log: bool = False
    """Features become log(1 + x): several of them contain zeros, so a plain logarithm cannot be meant."""
    distinct: bool = False
    """Of rows that are equal in every column, the first is kept."""


RECIPES: dict[str, Recipe] = {
    "skillcraft": Recipe(
        file="uci/SkillCraft1_Dataset.csv.gz", target="LeagueIndex", rows=3338, drop=("GameID",), log=True
    ),
    "powerplant": Recipe(file="uci/CCPP_Folds5x2_pp_sheet1.csv.gz", target="PE", rows=9568),
    # The two columns with a standard deviation below 1e-5.
    "elevators": Recipe(file="uci/elevators.csv.gz", target="Goal", rows=16599, drop=("diffSaTime2", "diffSaTime4")),
    "protein": Recipe(file="uci/CASP.csv.gz", target="RMSD", rows=44019, distinct=True),
}


@lru_cache(maxsize=4)
def load_table(name: str) -> Table:
    """One of the paper's tables, in its own units; rows with a missing value (SkillCraft has 57) are left out."""
    if name not in RECIPES:
        raise UnknownNameError(f"No table is called {name!r}. Known: {', '.join(RECIPES)}.")
    recipe = RECIPES[name]
    content = gzip.decompress(find(recipe.file).read_bytes())
    header = content[: content.index(b"\n")].decode().strip().split(",")
    rows = np.loadtxt(io.BytesIO(content.replace(b"?", b"nan")), delimiter=",", skiprows=1, ndmin=2)
    complete = rows[~np.isnan(rows).any(axis=1)]
    if recipe.distinct:
        complete = complete[np.sort(np.unique(complete, axis=0, return_index=True)[1])]
    if len(complete) != recipe.rows:
        raise DataError(f"Table {name} has {len(complete)} usable rows where the paper has {recipe.rows}.")
    features = [column for column in header if column not in (recipe.target, *recipe.drop)]
    x = torch.from_numpy(complete[:, [header.index(column) for column in features]])
    return Table(
        name=name,
        x=x.log1p() if recipe.log else x,
        y=torch.from_numpy(complete[:, [header.index(recipe.target)]]),
        features=tuple(features),
        decisions={"rows left out": len(rows) - len(complete)},
    )


@dataclass(frozen=True, kw_only=True)
class StaticTasks(TaskGenerator):
    """The static protocol: a random half to four fifths of a table is the context, the rest the targets.

    Scaled and clipped by the statistics of the context. Steps 0 to 49 are the paper's `STATIC_DRAWS` tasks.
    """

    batch_size: int = 1
    table: Table
    share: tuple[float, float] = (0.5, 0.8)
    """Bounds of the context's share of the rows."""
    dim_x: int = DIM_X

    def __post_init__(self) -> None:
        if not 0 < self.share[0] <= self.share[1] < 1:
            raise ConfigError(f"share must be a range (low, high) with 0 < low <= high < 1, not {self.share}.")
        if self.table.rows < 10:
            raise DataError(f"Table {self.table.name} has {self.table.rows} rows: a split needs at least 10.")
        check_width(self.table, self.dim_x)

    def draw(self, rng: torch.Generator) -> Task:
        low, high = (round(share * self.table.rows) for share in self.share)
        context = int(torch.randint(low, high + 1, (), generator=rng))
        rows = torch.stack([torch.randperm(self.table.rows, generator=rng) for _ in range(self.batch_size)])
        return make_task(self.table, rows, context, self.dim_x)


@dataclass(frozen=True, kw_only=True, eq=False)
class TableStream:
    """One stream of a table: rows in the order they arrive, and targets that are asked for again and again.

    Everything at a moment is made of what is known at that moment: the calibration rows and the rows that have
    arrived. Features are scaled by running statistics: a row by those at its arrival (itself included), which is
    final, so that a cache of it stays valid; a target by those at the time of asking. The target value keeps
    the statistics of the calibration rows, so that log-likelihoods along the stream are in one unit.
    """

    table: Table
    order: Tensor
    """Row numbers of the table, in order of arrival."""
    calibration: Tensor
    """Row numbers whose statistics start the stream. They are neither streamed nor asked for."""
    targets: Tensor
    """Row numbers that are asked for."""
    dim_x: int = DIM_X
    start: Standard
    """Feature statistics of the calibration rows."""
    y_scaling: Standard
    """Statistics of the calibration rows' target values: frozen."""

    @property
    def rows(self) -> int:
        """Rows that arrive."""
        return len(self.order)

    def context(self, first: int = 0, last: int | None = None) -> tuple[Float[Tensor, "1 row dim_x"], Tensor]:
        """Inputs and outputs of the rows that arrive from `first` up to, not including, `last`."""
        last = self.rows if last is None else self._checked(last)
        x = self.statistics(first).sweep(self.table.x[self.order[first:last]])
        return self._inputs(x), self._outputs(self.order[first:last])

    def statistics(self, seen: int) -> Standard:
        """Feature statistics once `seen` rows have arrived."""
        return self.start.update(self.table.x[self.order[: self._checked(seen)]])

    def question(self, seen: int) -> tuple[Float[Tensor, "1 target dim_x"], Float[Tensor, "1 target 1"]]:
        """Inputs and right answers of all targets, as asked once `seen` rows have arrived."""
        x = self.statistics(seen).apply(self.table.x[self.targets])
        return self._inputs(x), self._outputs(self.targets)

    def at(self, seen: int) -> Task:
        """The whole question once `seen` rows have arrived, for a model that starts afresh."""
        (xc, yc), (xt, yt) = self.context(0, seen), self.question(seen)
        return Task(xc=xc, yc=yc, xt=xt, yt=yt)

    def _inputs(self, x: Tensor) -> Float[Tensor, "1 row dim_x"]:
        return pad(x.nan_to_num(nan=0.0).float(), self.dim_x).unsqueeze(0)

    def _outputs(self, rows: Tensor) -> Float[Tensor, "1 row 1"]:
        return self.y_scaling.apply(self.table.y[rows]).float().unsqueeze(0)

    def _checked(self, seen: int) -> int:
        if not 0 <= seen <= self.rows:
            raise DataError(f"This stream has {self.rows} rows: {seen} of them cannot have arrived.")
        return seen


@dataclass(frozen=True, kw_only=True)
class StreamingProtocol:
    """The streaming protocol: a fifth of a table is asked for, the rest arrives after a calibration set.

    >>> table = Table(name="toy", x=torch.randn(1000, 2), y=torch.randn(1000, 1), features=("a", "b"))
    >>> stream = StreamingProtocol(table=table).stream(0)
    >>> len(stream.targets), len(stream.calibration), stream.rows, stream.at(30).xc.shape
    (200, 200, 600, torch.Size([1, 30, 20]))
    """

    table: Table
    seed: int = 0
    target_share: float = 0.2
    calibration_share: float = 0.2
    """Of the rows that are not targets."""
    calibration_least: int = 200
    dim_x: int = DIM_X
    clip: float = CLIP

    def __post_init__(self) -> None:
        check_width(self.table, self.dim_x)
        if not (0 < self.target_share < 1 and 0 <= self.calibration_share < 1 and self.calibration_least >= 2):
            raise ConfigError("Shares must lie between 0 and 1 and calibration_least be at least 2.")
        targets, calibration = self.sizes
        if targets < 1 or self.table.rows - targets - calibration < 1:
            raise DataError(
                f"Table {self.table.name} has {self.table.rows} rows: {targets} targets and {calibration} "
                "calibration rows leave nothing to stream. Use a larger table or lower calibration_least."
            )

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of targets and of calibration rows."""
        targets = round(self.target_share * self.table.rows)
        share = round(self.calibration_share * (self.table.rows - targets))
        return targets, max(self.calibration_least, share)

    def stream(self, permutation: int) -> TableStream:
        """A random order of the rows; 0 to 9 are the paper's `PERMUTATIONS`. A function of seed and number alone."""
        order = torch.randperm(self.table.rows, generator=generator(self.seed, "TableStream", permutation))
        targets, calibration = self.sizes
        asked, known, arriving = order.split([targets, calibration, len(order) - targets - calibration])
        return TableStream(
            table=self.table,
            order=arriving,
            calibration=known,
            targets=asked,
            dim_x=self.dim_x,
            start=Standard.of(self.table.x[known], clip=self.clip),
            y_scaling=Standard.of(self.table.y[known], clip=self.clip),
        )
