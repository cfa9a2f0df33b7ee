"""The network's view of a stream: a context of the rows held, renewed without a stall when its statistics have aged.

A new context is begun with new statistics while the old one goes on answering; every row that arrives takes a few old
ones along into it, until it has caught up and takes over.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from inctnp.models.base import NeuralProcess
from inctnp.regressor.engine import Engine
from inctnp.regressor.features import Features
from inctnp.regressor.history import History
from inctnp.regressor.scheme import Rows, Scheme, make_scheme
from inctnp.regressor.settings import LEAST_POINTS

TAKEN_ALONG = 4
"""Old rows encoded again with every row that arrives."""
AT_ONCE = 64
"""A context of no more rows than this is encoded again in one go."""
NEVER = 1 << 62
BUFFER = 2
"""Room per row held: a buffer that is full is doubled."""
EARLY_GROWTH, GROWTH = 1.25, 2.0
"""How much longer than at its statistics' time a context gets before it is renewed: up to `AT_ONCE` rows, and later."""

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Weights, means and standard deviations of mixtures, [part, row], in units of the outcomes."""


@dataclass(frozen=True, kw_only=True)
class View:
    """What one network is asked to see."""

    residual: bool = False
    """Whether it predicts what the advice leaves of the outcome, rather than the outcome."""
    seed: tuple[int, int] | None = None
    """Of the draw of features, where they are drawn; the first number is the user's, the second the draw's."""


@dataclass(frozen=True, kw_only=True)
class Renewal:
    """When statistics are taken anew."""

    max_points: int | None = None
    max_bytes: int | None = None
    """Of everything that grows with the rows held."""
    bytes_per_row: int = 0
    """Of the contexts of all networks."""
    frozen_at: int | None = None
    """Rows after which statistics stay as they are."""
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Centres and spreads that are given."""

    def most(self, numbers: int) -> int | None:
        """Rows held at most, each of so many numbers beside its contexts; None for any number."""
        if self.max_bytes is None:
            return self.max_points
        affordable = max(LEAST_POINTS, self.max_bytes // (self.bytes_per_row + BUFFER * 8 * numbers))
        return affordable if self.max_points is None else min(affordable, self.max_points)


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows `first` up to, not including, `end` in a context, by one scheme."""

    scheme: Scheme
    context: Any
    first: int
    end: int
    known: int
    """Rows the statistics were taken from."""

    def state(self) -> dict[str, Any]:
        header, tensors = self.context.state()
        return {**vars(self), "scheme": vars(self.scheme), "context": {"header": header, "tensors": tensors}}

    @classmethod
    def restore(cls, state: dict[str, Any], model: NeuralProcess) -> Self:
        context = model.restore(state["context"]["header"], state["context"]["tensors"])
        return cls(**{**state, "scheme": Scheme(**state["scheme"]), "context": context})


class Network:
    """One model, looking at one stream through one view."""

    def __init__(self, engine: Engine, view: View, renewal: Renewal) -> None:
        self.engine, self.view, self.renewal = engine, view, renewal
        self.model = model = engine.model
        self.current: Encoded | None = None
        self.upcoming: Encoded | None = None
        self._like = next(model.parameters())

    @property
    def first(self) -> int:
        """The oldest row still needed."""
        return self.current.first if self.current else 0

    @property
    def nbytes(self) -> int:
        return sum(each.context.nbytes for each in (self.current, self.upcoming) if each)

    @torch.no_grad()
    def ask(self, features: np.ndarray, known: int) -> Parts | None:
        """What the network expects of rows, each on its own, after `known` rows; nothing if it knows nothing yet."""
        now = self.current
        if now is None:
            return None
        predictive = self.engine.rows(known).query(now.context, self._inputs(now.scheme, features))
        return self._in_units(predictive.components(), now.scheme, features)

    @torch.no_grad()
    def absorb(self, features: Features, history: History, count: int) -> Parts | None:
        """Learn the newest `count` rows, at most `room` of them, and what was expected of each before it."""
        start, now = history.last - count, self.current
        rows = history.features(start, history.last)
        expected = None
        if now is not None:
            x, y = self._encode(now.scheme, history, start, history.last)
            if count > 1:
                expected = self._in_units(self.model.conditionals(now.context, x, y).components(), now.scheme, rows)
            context = self.engine.extend(history.last, now.context, x, y)
            self.current = replace(now, context=context, end=history.last)
        self._renew(features, history, count)
        return expected

    def room(self, history: History) -> int:
        """Rows that can be learned together: those before a context is begun or takes over."""
        now, last = self.current, history.last
        if now is None:
            return 1
        if self.upcoming is not None:
            return -(-(last - self.upcoming.end) // TAKEN_ALONG)
        return max(1, self._due(now, history) - (last - now.first))

    def copy(self) -> "Network":
        """Contexts are values, so both go on from the same ones."""
        other = Network(self.engine, self.view, self.renewal)
        other.current, other.upcoming = self.current, self.upcoming
        return other

    def state(self) -> dict[str, Any]:
        """What is encoded, and how."""
        return {name: each and each.state() for name, each in (("current", self.current), ("upcoming", self.upcoming))}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what a network with the same settings had encoded."""
        self.current, self.upcoming = (
            each and Encoded.restore(each, self.model) for each in (state["current"], state["upcoming"])
        )

    def begin(self, features: Features, history: History) -> None:
        """Answer from no rows at all, if the model can."""
        if self.model.config.prior and self.current is None and not len(history):
            self.current = self._begun(features, history, history.last)

    def restart(self, features: Features, history: History, first: int) -> None:
        """Go on from the rows since `first` only."""
        self.upcoming = None
        self.current = self._take(self._begun(features, history, first), history, history.last)

    def _due(self, now: Encoded, history: History) -> int:
        """Length of the context at which the next one is begun."""
        frozen = self.renewal.frozen_at
        if frozen is not None and now.known >= frozen:
            due = NEVER
        else:
            due = max(now.known + 1, int((EARLY_GROWTH if now.known < AT_ONCE else GROWTH) * now.known))
            due = min(due, frozen) if frozen is not None else due
        longest = self._longest(history)
        # One that could not take over before the window is full waits until it is.
        return longest if due + due // TAKEN_ALONG > longest else due

    def _longest(self, history: History) -> int:
        """Length at which the next context is begun at the latest, so that it takes over before the window is full."""
        most = self.renewal.most(history.width)
        return NEVER if most is None else most - -(-(most // 2) // TAKEN_ALONG)

    def _kept(self, history: History) -> int:
        """The first row of the next context: a full window keeps its newer half."""
        most = self.renewal.most(history.width)
        if most is None or history.last - self.first < self._longest(history):
            return self.first
        return history.last - most // 2

    def _renew(self, features: Features, history: History, arrived: int) -> None:
        if self.upcoming is not None:
            end = min(self.upcoming.end + (1 + TAKEN_ALONG) * arrived, history.last)
            self.upcoming = self._take(self.upcoming, history, end)
        elif self.current is None or history.last - self.current.first >= self._due(self.current, history):
            self.upcoming = self._begun(features, history, self._kept(history))
            if history.last - self.upcoming.first <= AT_ONCE:
                self.upcoming = self._take(self.upcoming, history, history.last)
        if self.upcoming is not None and self.upcoming.end == history.last:
            self.current, self.upcoming = self.upcoming, None

    def _begun(self, features: Features, history: History, first: int) -> Encoded:
        """A context without rows, its statistics from those since `first`."""
        held, now = history.last - first, self.current
        with torch.no_grad():
            empty = self.model.empty((), self.engine.storage)
        frozen = self.renewal.frozen_at
        if now is not None and frozen is not None and now.known >= frozen:
            return Encoded(now.scheme, empty, first, first, now.known)
        known, y = history.features(first, history.last), history.y(first, history.last)
        keys = features.keys
        # Columns that came after the last of these rows are not among them yet.
        known = np.pad(known, ((0, 0), (0, len(keys) - known.shape[1])), constant_values=np.nan)
        if self.view.residual:
            y = y - known[:, 0]
        draw = np.random.default_rng([*self.view.seed, first]) if self.view.seed else None
        rows = Rows(keys, features.active(), known, y)
        scheme = make_scheme(rows, self.model.config.dim_x, dict(self.renewal.scales), draw)
        return Encoded(scheme, empty, first, first, held)

    def _take(self, encoded: Encoded, history: History, end: int) -> Encoded:
        """The context with the rows before `end`."""
        if end <= encoded.end:
            return encoded
        with torch.no_grad():
            x, y = self._encode(encoded.scheme, history, encoded.end, end)
            return replace(encoded, context=self.engine.extend(history.last, encoded.context, x, y), end=end)

    def _encode(self, scheme: Scheme, history: History, start: int, end: int) -> tuple[Tensor, Tensor]:
        features, y = history.features(start, end), history.y(start, end)
        if self.view.residual:
            y = y - features[:, 0]
        return self._inputs(scheme, features), self._tensor(scheme.outputs(y)[:, None])

    def _inputs(self, scheme: Scheme, features: np.ndarray) -> Tensor:
        return self._tensor(scheme.inputs(features, self.model.config.dim_x))

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.from_numpy(values).to(self._like.device, self._like.dtype)

    def _in_units(self, parts: tuple[Tensor, Tensor, Tensor], scheme: Scheme, features: np.ndarray) -> Parts:
        log_weights, means, stddevs = (part[..., 0].double().cpu().numpy() for part in parts)
        shift = scheme.y_center + (features[:, 0] if self.view.residual else 0.0)
        return np.exp(log_weights), shift + scheme.y_spread * means, scheme.y_spread * stddevs
