"""A stream: predict before a row, learn after it, go back, branch, save."""

import math
import operator
from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from inctnp.errors import ConfigError, DataError, DtypeError, RollbackError, ShapeError
from inctnp.fused.backend import choose_backend, why_not_fused
from inctnp.models.autoregressive import JointSample
from inctnp.models.base import NeuralProcess, batch_shape
from inctnp.predictive.base import Predictive
from inctnp.streaming import memory as memories
from inctnp.streaming.state import Snapshot, read_snapshot, write_snapshot

Rows = Any
"""Numbers of one row or of many, as a tensor, an array, a list or a scalar; a batch of streams comes in front."""


class Stream:
    """Conditions a model on rows as they arrive.

    A row is `[features]` and many are `[rows, features]`; with `batch` every stream of the batch gets as many, and
    the batch comes first. Predicting changes nothing. Forks share the past and never see each other's rows.

    >>> import inctnp, numpy as np
    >>> stream = inctnp.build(inctnp.ModelConfig(name="inctnp-prior", dim_x=2)).eval().stream()
    >>> before_any_row = stream.predict([0.1, 0.2])
    >>> stream.observe(np.zeros((3, 2)), np.zeros(3))
    >>> branch = stream.fork()
    >>> branch.observe([0.5, 0.5], 1.0)
    >>> len(stream), len(branch), stream.predict(np.zeros((7, 2))).mean.shape
    (3, 4, torch.Size([7, 1]))
    """

    def __init__(
        self,
        model: NeuralProcess,
        *,
        batch: int | Sequence[int] = (),
        storage: str = "exact",
        policy: str = "all",
        keep_rows: bool = False,
        backend: str = "auto",
        **limits: int,
    ) -> None:
        """Start with no rows.

        `storage` keeps keys and values exact, in bfloat16 or in int8. `policy` bounds the memory: `window`
        (`max_points=` or `max_bytes=`, and `anchor=` for the first rows) or `reservoir` (`max_points=` or `max_bytes=`,
        `seed=`). `keep_rows` also keeps the raw rows, so that a rollback works under any policy, by replay.

        `backend` decides who computes single rows: `fused` is compiled code (install `inctnp[fused]`; the first use on
        a machine takes a while), `eager` the model itself, `auto` compiled code where it is there already and the
        stream is long enough. Answers agree to rounding.
        """
        self.model = model
        self.backend = backend
        self._computing = choose_backend(backend, model)
        # Says in which type and where the model computes, also after it was moved; to look it up is a tenth of a row.
        self._like = next(model.parameters())
        self.batch = batch_shape(batch)
        self.storage = storage
        self.keep_rows = keep_rows
        self.limits = self._limits(policy, limits)
        self.policy = policy
        self._x, self._y = self._no_rows()
        self._memory = self._fresh()

    def __len__(self) -> int:
        """Rows observed, whether they are still held or not."""
        return self._memory.seen

    @property
    def held(self) -> int:
        """Rows the next prediction is conditioned on."""
        return len(self._memory.context)

    @property
    def nbytes(self) -> int:
        """Bytes this stream keeps alive, those it shares with forks included."""
        return self._memory.nbytes + self._x.nbytes + self._y.nbytes

    def observe(self, x: Rows, y: Rows) -> None:
        """Learn one row or many; nothing is learned if any of them is refused."""
        xs, _ = self._inputs(x)
        ys = self._outputs(y, xs)
        # Tensors made in inference mode could not be written to outside of it.
        with torch.inference_mode(False), torch.no_grad():
            memory = self._memory.observe(self._computing, xs, ys)
            self._keep(xs, ys)
        self._memory = memory

    def predict(self, x: Rows) -> Predictive:
        """The predictive of one row, or of many, each on its own."""
        xs, single = self._inputs(x)
        with torch.no_grad():
            predictive = self._computing.query(self._memory.context, xs)
        return predictive.reshape(_only_point) if single else predictive

    def step(self, x: Rows, y: Rows) -> Predictive:
        """Predict one row, then learn it; what comes back was predicted before the outcome was looked at."""
        xs, single = self._inputs(x)
        ys = self._outputs(y, xs)
        if xs.shape[-2] != 1:
            raise ShapeError(f"step takes one row, not {xs.shape[-2]}: predict and observe take many.")
        with torch.inference_mode(False), torch.no_grad():
            predictive, memory = self._memory.step(self._computing, xs, ys)
            self._keep(xs, ys)
        self._memory = memory
        return predictive.reshape(_only_point) if single else predictive

    def sample(
        self, x: Rows, n: int, *, generator: torch.Generator | None = None, random_order: bool = False
    ) -> JointSample:
        """`n` coherent draws of the outcomes at these rows, and the marginals they imply."""
        xs, single = self._inputs(x)
        joint = self.model.joint_sample(self._memory.context, xs, n, generator=generator, random_order=random_order)
        return joint.reshape(_only_point) if single else joint

    def log_prob(
        self, x: Rows, y: Rows, *, orders: int = 0, generator: torch.Generator | None = None
    ) -> Float[Tensor, "*batch"]:
        """Joint log-density of these outcomes, in this order or averaged over random `orders`."""
        xs, _ = self._inputs(x)
        ys = self._outputs(y, xs)
        with torch.no_grad():
            return self.model.joint_log_prob(self._memory.context, xs, ys, orders=orders, generator=generator)

    def fork(self) -> "Stream":
        """Another stream with the same past, at no cost until the two differ."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def rollback(self, to: int) -> None:
        """Forget every row after the first `to`, exactly as if they had never come."""
        try:
            to = operator.index(to)
        except TypeError:
            raise RollbackError(f"Cannot roll back to {to!r}: give the number of rows to keep.") from None
        if not 0 <= to <= len(self):
            raise RollbackError(f"Cannot roll back to row {to}: this stream has seen rows 0 to {len(self)}.")
        if to == len(self):
            return
        try:
            self._memory = self._memory.rollback(to)
        except RollbackError:
            if not self.keep_rows:
                raise
            with torch.inference_mode(False), torch.no_grad():
                self._memory = self._fresh().observe(self._computing, self._x[..., :to, :], self._y[..., :to, :])
        self._x, self._y = self._x[..., :to, :], self._y[..., :to, :]

    def save(self, path: str | Path) -> Path:
        """Write the state to a file that `Stream.load` goes on from, bit for bit."""
        settings = {
            "batch": list(self.batch),
            "storage": self.storage,
            "policy": self.policy,
            "keep_rows": self.keep_rows,
            "backend": self.backend,
            "limits": self.limits,
            # Rows reach the model as they are; scaled streams say here how.
            "preprocessing": None,
        }
        return write_snapshot(Path(path), Snapshot(self.model, settings, self._memory, self._x, self._y))

    @classmethod
    def load(cls, path: str | Path, model: NeuralProcess | None = None) -> Self:
        """Go on from a saved state; a model that does not ship with the package has to be given."""
        saved = read_snapshot(Path(path), model)
        settings = {key: saved.settings[key] for key in ("batch", "storage", "policy", "keep_rows")}
        backend = saved.settings.get("backend", "auto")
        # A state may be read where compiled code is not installed; the answers are the same.
        backend = "auto" if backend == "fused" and why_not_fused(saved.model) else backend
        stream = cls(saved.model, backend=backend, **settings, **saved.settings["limits"])
        stream._memory = saved.restore(stream._memory)
        stream._x, stream._y = saved.x, saved.y
        return stream

    def _keep(self, xs: Tensor, ys: Tensor) -> None:
        """Raw rows, if they were asked for."""
        if self.keep_rows:
            self._x, self._y = torch.cat([self._x, xs], dim=-2), torch.cat([self._y, ys], dim=-2)

    def _fresh(self) -> memories.Memory:
        """A memory of no rows."""
        with torch.no_grad():
            empty = self.model.empty(self.batch, self.storage)
        like = torch.cat(self._no_rows(), dim=-1)
        return memories.start(self.policy, empty, like, dim_x=self.model.config.dim_x, **self.limits)

    def _no_rows(self) -> tuple[Tensor, Tensor]:
        config, like = self.model.config, self._like
        return like.new_empty(*self.batch, 0, config.dim_x), like.new_empty(*self.batch, 0, config.dim_y)

    def _limits(self, policy: str, limits: dict[str, int]) -> dict[str, int]:
        """Bytes turned into points, so that everything behind counts points only."""
        allowed = {"all": set(), "window": {"max_points", "anchor"}, "reservoir": {"max_points", "seed"}}
        if policy not in allowed:
            raise ConfigError(f"No memory policy is called {policy!r}: choose {', '.join(allowed)}.")
        try:
            limits = {name: operator.index(limit) for name, limit in limits.items()}
        except TypeError:
            raise ConfigError(f"Limits are whole numbers, which {limits} are not.") from None
        if "max_bytes" in limits and policy != "all":
            per_point = max(1, self.model.bytes_per_point(self.storage))
            limits["max_points"] = limits.pop("max_bytes") // per_point // BUFFERS
        if unknown := limits.keys() - allowed[policy]:
            raise ConfigError(
                f"The {policy} policy takes no {', '.join(sorted(unknown))}; it takes "
                f"{', '.join(sorted(allowed[policy])) or 'no limits: choose window or reservoir to bound the memory'}."
            )
        return limits

    def _inputs(self, x: Rows) -> tuple[Tensor, bool]:
        """Rows as `[*batch, rows, features]`, and whether there was only one, without its axis."""
        xs = self._tensor(x, "x")
        axes = len(self.batch)
        single = xs.ndim == axes + 1
        if single:
            xs = xs.unsqueeze(-2)
        dim_x = self.model.config.dim_x
        if xs.ndim != axes + 2 or xs.shape[:-2] != self.batch or xs.shape[-1] != dim_x:
            front = "".join(f"{size}, " for size in self.batch)
            hint = " One feature still needs its axis: x[:, None]." if dim_x == 1 else ""
            raise ShapeError(
                f"x must be [{front}{dim_x}] for one row or [{front}rows, {dim_x}] for many, "
                f"not {list(xs.shape if not single else xs.squeeze(-2).shape)}.{hint}"
            )
        self._require_finite(xs, "x")
        return xs, single

    def _outputs(self, y: Rows, xs: Tensor) -> Tensor:
        """Outcomes as `[*batch, rows, dim_y]`; one output needs no axis of its own."""
        ys = self._tensor(y, "y")
        dim_y, rows = self.model.config.dim_y, xs.shape[-2]
        wanted = torch.Size((*self.batch, rows, dim_y))
        # Only axes of one may be left out: guessing at more would let a transposed table through.
        short = {wanted} | ({wanted[:-1]} if dim_y == 1 else set())
        if rows == 1:
            short |= {torch.Size((*self.batch, dim_y))} | ({self.batch} if dim_y == 1 else set())
        if ys.shape not in short:
            raise ShapeError(
                f"y must have {dim_y} value{'s' * (dim_y > 1)} for each of the {rows} row{'s' * (rows != 1)} of x "
                f"(shape {list(wanted)}), not shape {list(ys.shape)}."
            )
        ys = ys.reshape(wanted)
        self._require_finite(ys, "y")
        return ys

    def _tensor(self, values: Rows, name: str) -> Tensor:
        try:
            tensor = values if isinstance(values, Tensor) else _as_tensor(values)
        except (TypeError, ValueError) as error:
            raise DtypeError(f"{name} must be numbers in a tensor, an array or a list: {error}") from error
        if tensor.is_complex():
            raise DtypeError(f"{name} must be real numbers, not {tensor.dtype}.")
        precise = name == "x" and self.model.config.grids and tensor.dtype == torch.float64
        return tensor.to(self._like.device, None if precise else self._like.dtype)

    def _require_finite(self, values: Tensor, name: str) -> None:
        # The sum is finite unless a value is not, or unless it overflows: one cheap pass for the usual case.
        if math.isfinite(values.sum().item()):
            return
        wrong = (~torch.isfinite(values)).nonzero()
        if len(wrong):
            where, value = wrong[0].tolist(), values[tuple(wrong[0])].item()
            raise DataError(
                f"{name} holds {value} in row {len(self) + where[-2]} (column {where[-1]}), and only finite numbers "
                f"can be used. Leave the row out or fill the value in; the stream still has its {len(self)} rows."
            )


BUFFERS = 4
"""Rows of room per point kept under a policy: two contexts, each in a buffer that may be half empty."""


def _as_tensor(values: Rows) -> Tensor:
    array = np.asarray(values)
    if array.dtype == object:
        array = _from_objects(array)
    # Torch refuses reversed arrays and warns of read-only ones, and pandas hands out both.
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    return torch.as_tensor(array)


def _from_objects(array: np.ndarray) -> np.ndarray:
    """What pandas makes of columns of different kinds: numbers and truth values are fine, text and gaps are not."""
    for where, value in np.ndenumerate(array):
        if not isinstance(value, Real | np.bool_):
            raise TypeError(f"{value!r} at {list(where)} is none.")
    return array.astype(np.float64)


def _only_point(values: Tensor) -> Tensor:
    return values.squeeze(-2)
