"""Tables as a source of tasks: your own CSV or Parquet file, or any table already in memory."""

import contextlib
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from inctnp.errors import ConfigError, DataError, MissingDataError, ShapeError
from inctnp.generators.base import TaskGenerator, check_range, draw_size
from inctnp.generators.scaling import Standard
from inctnp.task import Task

if TYPE_CHECKING:
    import pandas as pd

DIM_X = 20
"""Features of the tabular models."""
CLIP = 5.0
"""Standard deviations beyond which scaled features and targets are clipped."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Rows of numbers in their own units; a missing feature is NaN.

    >>> Table(name="toy", x=torch.zeros(3, 2), y=torch.zeros(3, 1), features=("a", "b")).rows
    3
    """

    name: str
    x: Float[Tensor, "row dim_x"]
    y: Float[Tensor, "row 1"]
    features: tuple[str, ...]
    ordered: bool = False
    """Rows are in order of time: tasks keep it, and context comes before targets."""
    decisions: dict[str, int] = field(default_factory=dict)
    """How often each liberty was taken in reading: rows left out, columns recoded, values missing."""

    def __post_init__(self) -> None:
        if self.x.shape != (len(self.y), len(self.features)) or self.y.shape != (len(self.x), 1):
            raise ShapeError(
                f"A table of {len(self.features)} features has x [row, {len(self.features)}] and y [row, 1], "
                f"not {tuple(self.x.shape)} and {tuple(self.y.shape)}."
            )

    @property
    def rows(self) -> int:
        return len(self.y)


@dataclass(frozen=True, kw_only=True)
class TableTasks(TaskGenerator):
    """Random rows of a table, for fine-tuning and evaluation; scaled by the statistics of each task's context.

    Rows ordered in time are taken as one stretch, its last rows the targets; others are drawn without replacement.

    >>> table = Table(name="toy", x=torch.randn(50, 2), y=torch.randn(50, 1), features=("a", "b"))
    >>> TableTasks(batch_size=2, table=table, context=(10, 20), targets=5).batch(0).xt.shape
    torch.Size([2, 5, 20])
    """

    table: Table
    context: tuple[int, int] = (10, 1024)
    targets: int = 128
    dim_x: int = DIM_X
    """Columns of a task: the table's features, then zeros."""
    clip: float = CLIP

    def __post_init__(self) -> None:
        check_range("context", self.context, least=2)
        need = self.context[1] + self.targets
        if self.targets < 1 or need > self.table.rows:
            raise DataError(
                f"Tasks of up to {need} rows (context {self.context[1]} and targets {self.targets}) were asked of "
                f"table {self.table.name}, which has {self.table.rows}. Ask for smaller tasks."
            )
        check_width(self.table, self.dim_x)

    def draw(self, rng: torch.Generator) -> Task:
        context = draw_size(self.context, rng)
        points = context + self.targets
        if self.table.ordered:
            first = torch.randint(self.table.rows - points + 1, (self.batch_size, 1), generator=rng)
            rows = first + torch.arange(points)
        else:
            rows = torch.stack(
                [torch.randperm(self.table.rows, generator=rng)[:points] for _ in range(self.batch_size)]
            )
        return make_task(self.table, rows, context, self.dim_x, self.clip)


def make_task(
    table: Table, rows: Int[Tensor, "batch point"], context: int, dim_x: int = DIM_X, clip: float = CLIP
) -> Task:
    """Tasks of these rows, the first `context` of each being its context, scaled by the context's statistics."""
    x = pad(by_context(table.x[rows], context, clip), dim_x)
    y = by_context(table.y[rows], context, clip)
    return Task(xc=x[:, :context], yc=y[:, :context], xt=x[:, context:], yt=y[:, context:])


def by_context(values: Float[Tensor, "batch point column"], context: int, clip: float) -> Tensor:
    """Each task z-scored by its own first `context` points; a missing value becomes 0, the context's mean."""
    batch, points, columns = values.shape
    # Every column of every task is a column of its own to the statistics.
    flat = values.transpose(0, 1).reshape(points, batch * columns)
    scaled = Standard.of(flat[:context], clip=clip).apply(flat).nan_to_num(nan=0.0).float()
    return scaled.view(points, batch, columns).transpose(0, 1).contiguous()


def pad(x: Float[Tensor, "*batch point column"], dim_x: int) -> Float[Tensor, "*batch point dim_x"]:
    """The columns of x, then zeros."""
    return torch.nn.functional.pad(x, (0, dim_x - x.shape[-1]))


def check_width(table: Table, dim_x: int) -> None:
    """Refuse a table that is wider than the tasks asked for."""
    if len(table.features) > dim_x:
        raise DataError(
            f"Table {table.name} has {len(table.features)} features, a task {dim_x}. "
            f"Name the columns to use, or read the table with most={dim_x} to keep the first {dim_x}."
        )


def read_table(
    path: str | Path,
    target: str,
    *,
    features: tuple[str, ...] | None = None,
    time: str | None = None,
    most: int = DIM_X,
) -> Table:
    """A table from a CSV (also compressed) or Parquet file; every liberty taken is counted in `Table.decisions`.

    | in the file | becomes | counted as |
    |---|---|---|
    | row without a target | left out | `rows without target` |
    | rows not in order of the time column | sorted, ties as they were | `rows out of order` |
    | date column (in text: ISO 8601) | seconds since 1970 | `date columns` |
    | text or category column | 0, 1, ... in order of first appearance | `category columns` |
    | missing or infinite feature | NaN; 0 once scaled, the mean of the context | `missing values` |
    | constant column | left out: it tells nothing | `constant columns` |
    | more than `most` features | the first `most` are kept | `columns beyond most` |

    The time column itself is no feature unless it is named in `features`. Columns are never chosen by looking
    at the target, because that would look at rows that are later asked for.
    """
    frame = _read(Path(path))
    wanted = features or tuple(str(name) for name in frame.columns if name not in (target, time))
    absent = [name for name in (target, *wanted, *([time] if time else [])) if name not in frame.columns]
    if absent:
        raise DataError(f"{path} has no column {', '.join(absent)}. Its columns: {', '.join(map(str, frame.columns))}.")
    if target in wanted:
        raise ConfigError(f"The target {target} cannot be one of its own features.")
    decisions: dict[str, int] = {}
    if time is not None:
        frame = _sorted(frame, time, decisions)
    y = _target(frame[target], str(path))
    kept = ~y.isnan()
    _count(decisions, "rows without target", int((~kept).sum()))
    if int(kept.sum()) < 2:
        raise DataError(f"{path} has {int(kept.sum())} rows with a value of {target}: at least 2 are needed.")
    frame = frame[kept.numpy()]
    columns = _features(frame, wanted, most, decisions)
    if not columns:
        raise DataError(f"{path} has no feature that varies: {', '.join(wanted) or 'only the target'}.")
    x = torch.stack(list(columns.values()), dim=1)
    _count(decisions, "missing values", int(x.isnan().sum()))
    return Table(
        name=Path(path).stem,
        x=x,
        y=y[kept].unsqueeze(1),
        features=tuple(columns),
        ordered=time is not None,
        decisions=decisions,
    )


def _read(path: Path) -> "pd.DataFrame":
    if not path.is_file():
        raise MissingDataError(f"No file at {path}. Give the path of a CSV or Parquet file.")
    try:
        import pandas as pd
    except ImportError as error:
        raise ConfigError("Reading tables takes pandas and pyarrow: install inctnp[data].") from error
    try:
        return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    except (ValueError, OSError) as error:  # pandas' own and Arrow's parser errors are among these
        raise DataError(f"{path} cannot be read as {path.suffix or 'a table'}: {error}") from error


def _sorted(frame: "pd.DataFrame", time: str, decisions: dict[str, int]) -> "pd.DataFrame":
    """Rows in order of time; how many came before an earlier one is counted."""
    import pandas as pd

    moments = frame[time]
    if not pd.api.types.is_numeric_dtype(moments):
        try:
            moments = pd.to_datetime(moments, format="ISO8601")  # any other would have to guess day and month
        except (ValueError, TypeError) as error:
            raise DataError(f"Time column {time} holds neither numbers nor ISO 8601 dates: {error}") from error
    if moments.isna().any():
        row = int(moments.isna().to_numpy().argmax())
        raise DataError(f"Time column {time} is empty in row {row}: fill it, or remove the row.")
    _count(decisions, "rows out of order", int((moments < moments.cummax()).sum()))
    return frame.loc[moments.sort_values(kind="stable").index]


def _target(column: "pd.Series[Any]", path: str) -> Float[Tensor, " row"]:
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").astype("float64")
    for wrong, kind in ((numbers.isna() & column.notna(), "not a number"), (numbers.abs() == math.inf, "infinite")):
        if wrong.any():
            row = wrong.to_numpy().argmax()
            raise DataError(
                f"Target {column.name} of {path} is {kind} in {int(wrong.sum())} rows, for instance "
                f"{column.iloc[row]!r} in row {column.index[row]}. Choose a numeric column or clean these rows."
            )
    return torch.from_numpy(numbers.to_numpy(copy=True))


def _features(
    frame: "pd.DataFrame", wanted: tuple[str, ...], most: int, decisions: dict[str, int]
) -> dict[str, Float[Tensor, " row"]]:
    """Columns of numbers that vary, the first `most` of them."""
    columns: dict[str, Tensor] = {}
    for name in wanted:
        column = _numbers(frame[name], decisions)
        seen = column[~column.isnan()]
        varies = len(seen) > 0 and bool(seen.amin() < seen.amax())
        _count(decisions, "constant columns", int(not varies))
        _count(decisions, "columns beyond most", int(varies and len(columns) == most))
        if varies and len(columns) < most:
            columns[name] = column
    return columns


def _numbers(column: "pd.Series[Any]", decisions: dict[str, int]) -> Float[Tensor, " row"]:
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(column):
        # Text that is a date in every row that has any, as CSV files write them.
        with contextlib.suppress(ValueError, TypeError):
            column = pd.to_datetime(column, format="ISO8601")
    if pd.api.types.is_datetime64_any_dtype(column):
        _count(decisions, "date columns", 1)
        seconds = (column - pd.Timestamp(0, tz=column.dt.tz)).dt.total_seconds()
        values = seconds.to_numpy(dtype="float64", na_value=math.nan)
    elif pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype="float64", na_value=math.nan)
    else:
        _count(decisions, "category columns", 1)
        codes, _ = pd.factorize(column)
        values = pd.Series(codes, dtype="float64").mask(codes < 0).to_numpy()
    numbers = torch.from_numpy(values.copy())
    return torch.where(numbers.isfinite(), numbers, torch.nan)


def _count(decisions: dict[str, int], what: str, times: int) -> None:
    if times:
        decisions[what] = decisions.get(what, 0) + times
