"""Statistics of a table and the scalings they define, the same row by row as in bulk.

A statistic is a value: `update` returns a new one, so a stream that forks or rolls back keeps its own.
Everything is held in float64; results come back in the number type that was asked with.

| column | `apply` | `invert` |
|---|---|---|
| with spread | (value - center) / spread | center + spread * value |
| constant so far (for `MaxAbs`: all zeros), or not seen at all | 0, whatever the value | center + value |

On the way back a column of unknown spread has unit spread, and one never seen has center 0, so that a
predictive density in the column's own units stays proper.

Missing values (NaN, and infinities) are left out of the statistics of their column and stay NaN through `apply`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError, ShapeError, StateError

Rows = Float[Tensor, "*row dim_x"]
Column = Float[Tensor, " dim_x"]

# A mean of equal float64 numbers is off by an ulp or so: a spread below this share of it is rounding.
ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True, eq=False)
class Scaling(ABC):
    """Statistics of the rows seen so far, and the scaling of each column they define."""

    kind: ClassVar[str]
    dim: int
    """Columns of the table."""
    clip: float | None = None
    """Scaled values are held in [-clip, clip]."""

    def __post_init__(self) -> None:
        if self.dim < 1 or (self.clip is not None and not self.clip > 0):
            raise ConfigError(f"A scaling needs dim >= 1 and a positive clip or None, not {self.dim} and {self.clip}.")

    def update(self, rows: Rows) -> Self:
        """The statistics with these rows included: one row [dim] or many [n, dim]."""
        values = self._checked(rows).detach().double().reshape(-1, self.dim)
        return self._include(values) if len(values) else self

    def apply(self, rows: Rows) -> Rows:
        """Scaled rows."""
        center, spread, inverse = self.center, self.spread, self._inverse
        scaled = (self._checked(rows) - center) * inverse
        if not spread.all():
            scaled = torch.where((spread > 0) | rows.isnan(), scaled, 0.0)
        return (scaled if self.clip is None else scaled.clamp(-self.clip, self.clip)).to(rows.dtype)

    def invert(self, rows: Rows) -> Rows:
        """Rows in their own units again, up to what was clipped."""
        return (self.center + self._checked(rows) * self.unit).to(rows.dtype)

    @property
    @abstractmethod
    def center(self) -> Column:
        """What is subtracted."""

    @property
    @abstractmethod
    def spread(self) -> Column:
        """What is divided by: 0 for a column that is constant or unseen."""

    @cached_property
    def unit(self) -> Column:
        """One scaled unit in the column's own units; 1 where nothing is known, so that a density stays proper."""
        return torch.where(self.spread > 0, self.spread, 1.0)

    def state(self) -> dict[str, Any]:
        """Numbers and lists only, exact through JSON (None stands for NaN and infinities)."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {"kind": self.kind, **{name: _plain(value) for name, value in values}}

    @cached_property
    def _inverse(self) -> Column:
        return 1 / self.unit

    @abstractmethod
    def _include(self, values: Float[Tensor, "row dim_x"]) -> Self: ...

    def _checked(self, rows: Tensor) -> Tensor:
        if rows.shape[-1:] != (self.dim,):
            raise ShapeError(f"Rows have shape {tuple(rows.shape)}, but these statistics are of {self.dim} columns.")
        return rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Standard(Scaling):
    """Mean and population standard deviation, merged as by Chan, Golub and LeVeque.

    >>> rows = torch.tensor([[1.0, 5.0], [3.0, 5.0]])
    >>> statistics = Standard.of(rows)
    >>> statistics.apply(rows).tolist(), statistics.update(rows[0]).count.tolist()
    ([[-1.0, 0.0], [1.0, 0.0]], [3.0, 3.0])
    """

    kind: ClassVar[str] = "standard"
    count: Column
    """Values seen in each column."""
    mean: Column
    squares: Column
    """Summed squared distance from the mean."""

    @classmethod
    def empty(cls, dim: int, clip: float | None = None) -> Self:
        return cls(dim=dim, clip=clip, **{name: _zeros(dim) for name in ("count", "mean", "squares")})

    @classmethod
    def of(cls, rows: Rows, clip: float | None = None) -> Self:
        return cls.empty(rows.shape[-1], clip).update(rows)

    @property
    def center(self) -> Column:
        return self.mean

    @cached_property
    def spread(self) -> Column:
        std = (self.squares / self.count.clamp(min=1)).sqrt()
        return torch.where(std > ROUNDING * self.mean.abs(), std, 0.0)

    def merge(self, other: Self) -> Self:
        """The statistics of both sets of rows together."""
        count = self.count + other.count
        share = other.count / count.clamp(min=1)
        step = other.mean - self.mean
        mean = self.mean + step * share
        squares = self.squares + other.squares + step.square() * (self.count * share)
        return replace(self, count=count, mean=mean, squares=squares)

    def sweep(self, rows: Float[Tensor, "row dim_x"]) -> Float[Tensor, "row dim_x"]:
        """Every row scaled by what was known when it had arrived: these statistics and the rows up to itself.

        >>> start = Standard.of(torch.tensor([[0.0], [2.0]]))
        >>> start.sweep(torch.tensor([[1.0], [100.0]]))[0].tolist()
        [0.0]
        """
        values = self._checked(rows).double()
        if not len(values):
            return rows
        # Distances from the mean so far, or from the first row: either is a point of the data, or the mean of some,
        # so the subtraction below loses no more than a factor of the number of rows.
        origin = torch.where(self.count > 0, self.mean, values[0].nan_to_num(nan=0.0, posinf=0.0, neginf=0.0))
        seen = values.isfinite()
        away = torch.where(seen, values - origin, 0.0)
        count = (self.count + seen.cumsum(dim=0)).clamp(min=1)
        total = away.cumsum(dim=0)
        center = origin + total / count
        std = ((self.squares + away.square().cumsum(dim=0) - total.square() / count).clamp(min=0) / count).sqrt()
        varies = std > ROUNDING * center.abs()
        scaled = torch.where(varies | rows.isnan(), (values - center) / torch.where(varies, std, 1.0), 0.0)
        return (scaled if self.clip is None else scaled.clamp(-self.clip, self.clip)).to(rows.dtype)

    def _include(self, values: Tensor) -> Self:
        seen = values.isfinite()
        if len(values) == 1:
            # One row, the common case of a stream: half the work of a merge. A missing value steps by nothing.
            count = self.count + seen[0]
            step = torch.where(seen[0], values[0] - self.mean, 0.0)
            mean = self.mean + step / count.clamp(min=1)
            squares = torch.addcmul(self.squares, step, torch.where(seen[0], values[0] - mean, 0.0))
            return replace(self, count=count, mean=mean, squares=squares)
        count = seen.sum(dim=0).double()
        mean = torch.where(seen, values, 0.0).sum(dim=0) / count.clamp(min=1)
        squares = torch.where(seen, values - mean, 0.0).square().sum(dim=0)
        return self.merge(replace(self, count=count, mean=mean, squares=squares))


@dataclass(frozen=True, kw_only=True, eq=False)
class MinMax(Scaling):
    """The range seen becomes the range `to`.

    >>> MinMax.of(torch.tensor([[2.0], [4.0]]), to=(-1.0, 1.0)).apply(torch.tensor([[3.0], [4.0]])).tolist()
    [[0.0], [1.0]]
    """

    kind: ClassVar[str] = "min-max"
    to: tuple[float, float] = (0.0, 1.0)
    low: Column
    high: Column

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.to[0] <= 0.0 <= self.to[1] or self.to[0] == self.to[1]:
            raise ConfigError(f"to must be a range that holds 0, where constant columns go, not {self.to}.")

    @classmethod
    def empty(cls, dim: int, clip: float | None = None, to: tuple[float, float] = (0.0, 1.0)) -> Self:
        return cls(dim=dim, clip=clip, to=to, low=_zeros(dim) + torch.inf, high=_zeros(dim) - torch.inf)

    @classmethod
    def of(cls, rows: Rows, clip: float | None = None, to: tuple[float, float] = (0.0, 1.0)) -> Self:
        return cls.empty(rows.shape[-1], clip, to).update(rows)

    @cached_property
    def center(self) -> Column:
        return torch.where(self.low <= self.high, self.low - self.to[0] * self.spread, 0.0)

    @cached_property
    def spread(self) -> Column:
        return (self.high - self.low).clamp(min=0) / (self.to[1] - self.to[0])

    def _include(self, values: Tensor) -> Self:
        seen = values.isfinite()
        low = torch.where(seen, values, torch.inf).amin(dim=0)
        high = torch.where(seen, values, -torch.inf).amax(dim=0)
        return replace(self, low=self.low.minimum(low), high=self.high.maximum(high))


@dataclass(frozen=True, kw_only=True, eq=False)
class MaxAbs(Scaling):
    """Divides by the largest magnitude seen; zero stays zero.

    >>> MaxAbs.of(torch.tensor([[2.0], [-4.0]])).apply(torch.tensor([[1.0]])).tolist()
    [[0.25]]
    """

    kind: ClassVar[str] = "max-abs"
    largest: Column

    @classmethod
    def empty(cls, dim: int, clip: float | None = None) -> Self:
        return cls(dim=dim, clip=clip, largest=_zeros(dim))

    @classmethod
    def of(cls, rows: Rows, clip: float | None = None) -> Self:
        return cls.empty(rows.shape[-1], clip).update(rows)

    @cached_property
    def center(self) -> Column:
        return _zeros(self.dim)

    @property
    def spread(self) -> Column:
        return self.largest

    def _include(self, values: Tensor) -> Self:
        largest = torch.where(values.isfinite(), values.abs(), 0.0).amax(dim=0)
        return replace(self, largest=self.largest.maximum(largest))


@dataclass(frozen=True, kw_only=True, eq=False)
class Robust(Scaling):
    """Median and interquartile range, from at most `capacity` rows spread evenly over those seen.

    Quantiles need the rows themselves. Every row is kept until there are more than `capacity`; then every
    second, every fourth, ... row is, counted from the first, so what is kept depends on the rows alone and
    not on how they arrived.

    >>> Robust.of(torch.tensor([[0.0], [1.0], [2.0], [3.0], [400.0]])).apply(torch.tensor([[4.0]])).tolist()
    [[1.0]]
    """

    kind: ClassVar[str] = "robust"
    capacity: int = 1024
    seen: int = 0
    """Rows seen."""
    stride: int = 1
    """One row of this many is kept."""
    kept: Float[Tensor, "row dim_x"]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.capacity < 4:
            raise ConfigError(f"capacity must be at least 4 rows for three quartiles, not {self.capacity}.")

    @classmethod
    def empty(cls, dim: int, clip: float | None = None, capacity: int = 1024) -> Self:
        return cls(dim=dim, clip=clip, capacity=capacity, kept=torch.zeros(0, dim, dtype=torch.float64))

    @classmethod
    def of(cls, rows: Rows, clip: float | None = None, capacity: int = 1024) -> Self:
        return cls.empty(rows.shape[-1], clip, capacity).update(rows)

    @cached_property
    def quartiles(self) -> Float[Tensor, "3 dim_x"]:
        if not len(self.kept):
            return torch.zeros(3, self.dim, dtype=torch.float64)
        at = torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64)
        return torch.nanquantile(self.kept, at, dim=0).nan_to_num(nan=0.0)

    @property
    def center(self) -> Column:
        return self.quartiles[1]

    @cached_property
    def spread(self) -> Column:
        return self.quartiles[2] - self.quartiles[0]

    def _include(self, values: Tensor) -> Self:
        first = -self.seen % self.stride
        kept, stride = torch.cat([self.kept, _finite_or_nan(values[first :: self.stride])]), self.stride
        while len(kept) > self.capacity:
            kept, stride = kept[::2], 2 * stride
        return replace(self, seen=self.seen + len(values), stride=stride, kept=kept)


KINDS: dict[str, type[Scaling]] = {each.kind: each for each in (Standard, MinMax, MaxAbs, Robust)}
# What None meant, by field, in a state written by `Scaling.state`.
_NOTHING = {"low": torch.inf, "high": -torch.inf, "kept": torch.nan}


def from_state(state: Mapping[str, Any]) -> Scaling:
    """The statistics that `state()` described.

    >>> from_state(MaxAbs.of(torch.tensor([[2.0]])).state()).state()
    {'kind': 'max-abs', 'dim': 1, 'clip': None, 'largest': [2.0]}
    """
    kind = KINDS.get(str(state.get("kind")))
    if kind is None:
        raise StateError(f"Statistics of kind {state.get('kind')!r} are unknown: expected one of {', '.join(KINDS)}.")
    names = {field.name for field in fields(kind)}
    if set(state) != names | {"kind"}:
        raise StateError(f"A {kind.kind} state holds {sorted(names)}, not {sorted(set(state) - {'kind'})}.")
    dim = state["dim"]
    scaling: Scaling = kind(**{name: _restored(name, state[name], dim) for name in names})
    return scaling


def _restored(name: str, value: Any, dim: int) -> Any:
    if name == "to":
        return tuple(value)
    if not isinstance(value, list):
        return value
    rows = value if name == "kept" else [value]
    filled = [[_NOTHING.get(name, torch.nan) if each is None else each for each in row] for row in rows]
    if any(len(row) != dim for row in filled):
        raise StateError(f"{name} of a saved statistic does not have {dim} columns: the state is damaged.")
    tensor = torch.tensor(filled, dtype=torch.float64).reshape(len(rows), dim)
    return tensor if name == "kept" else tensor[0]


def _plain(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return list(value) if isinstance(value, tuple) else value
    if value.dim() > 1:
        return [_plain(row) for row in value]
    return [each if finite else None for each, finite in zip(value.tolist(), value.isfinite().tolist(), strict=True)]


def _finite_or_nan(values: Tensor) -> Tensor:
    return torch.where(values.isfinite(), values, torch.nan)


def _zeros(dim: int) -> Column:
    return torch.zeros(dim, dtype=torch.float64)
