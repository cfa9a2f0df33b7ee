"""The regressor that people meet: rows as they have them in, predictive distributions out."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from inctnp.errors import ConfigError, DataError, RollbackError, ShapeError
from inctnp.models.autoregressive import JointSample
from inctnp.models.base import NeuralProcess
from inctnp.predictive.base import Predictive
from inctnp.predictive.mixture import Mixture, mixture_over_first_axis
from inctnp.predictive.plain import PlainMixture
from inctnp.pretrained.registry import load
from inctnp.regressor.columns import Columns, Row
from inctnp.regressor.engine import Engine
from inctnp.regressor.features import Features
from inctnp.regressor.judge import Judge
from inctnp.regressor.learner import Asked, Learner
from inctnp.regressor.monitor import Monitor
from inctnp.regressor.network import Network, Renewal, View
from inctnp.regressor.packing import pack, unpack
from inctnp.regressor.recalibration import CORRECTIONS
from inctnp.regressor.settings import LEAST_POINTS, RegressorSettings
from inctnp.regressor.undo import Event, Journal, Mark
from inctnp.regressor.watch import Watch, require_river
from inctnp.streaming.sealed import Kind, facts_of, model_of

CONTEXTS = 4
"""Rows of room per row held: two contexts, each in a buffer that may be half empty."""
REGRESSOR = Kind("inctnp-regressor", 1, "regressor")


Rows = Any
"""A sequence of mappings from names of columns to values."""
Outcomes = Any
"""A sequence of numbers, or an array."""


class StreamingRegressor:
    """Predicts an outcome from the columns of a row, learns it when it comes, and goes on.

    A row is a mapping from names of columns to numbers, texts, dates or None; columns may come and go. Predictions are
    in the units of the outcome, one row of the predictive for each row asked.

    >>> import inctnp
    >>> model = inctnp.build(inctnp.ModelConfig(name="inctnp-seq", dim_x=20, prior=True)).eval()
    >>> r = StreamingRegressor(model)
    >>> before = r.step({"speed": 3.0, "line": "A"}, 10.5)
    >>> r.learn([{"speed": 4.0, "line": "B"}, {"speed": None}], [12.0, 11.0])
    >>> len(r), r.columns.names, r.predict([{"speed": 5.0}]).mean.shape
    (3, ['speed', 'line'], torch.Size([1, 1]))
    """

    def __init__(self, model: str | Path | NeuralProcess = "tabular", **settings: Any) -> None:
        """Start with no rows; `settings` are the fields of `RegressorSettings`."""
        chosen = model if isinstance(model, NeuralProcess) else _loaded(str(model))
        self._start(chosen, RegressorSettings(model=chosen.identity, **settings))

    @classmethod
    def of(cls, model: NeuralProcess, settings: RegressorSettings) -> Self:
        """One with no rows and these settings."""
        regressor = object.__new__(cls)
        regressor._start(model, settings)
        return regressor

    def __len__(self) -> int:
        """Rows learned, whether they are still held or not."""
        return self._learner.history.last

    @property
    def held(self) -> int:
        """Rows that are held, so that they can be encoded again."""
        return len(self._learner.history)

    @property
    def columns(self) -> Columns:
        return self._learner.features.columns

    @property
    def monitor(self) -> Monitor:
        """How good the predictions have been that were made before their row was learned."""
        return self._learner.judge.monitor

    @property
    def nbytes(self) -> int:
        """Bytes of the rows held and of what the networks keep of them."""
        return self._learner.history.nbytes + sum(network.nbytes for network in self._learner.networks)

    def predict(self, rows: Rows) -> Predictive:
        """The predictive of each row, as if it came next. Columns that were never learned count for nothing."""
        raws = self._read(rows)
        if not len(raws):
            empty = torch.zeros(1, 0, 1, dtype=torch.float64)
            return Mixture(empty, empty, empty)
        return _as_tensors(self._learner.ask_many(raws))

    def step(self, row: Row, y: float) -> Predictive:
        """Predict a row, then learn its outcome; answers what was predicted before."""
        outcome, checked = float(_outcomes([y], len(self))[0]), _rows([row])[0]
        self._note("step", checked, outcome)
        asked = self._ask(checked)
        self._learner.tell(asked, outcome)
        return _as_tensors([asked.mixture])

    def ask(self, row: Row) -> int:
        """A ticket for a row whose outcome comes later; `asked` says what was predicted."""
        checked = _rows([row])[0]
        self._note("ask", checked)
        asked = self._ask(checked)
        self._next_ticket += 1
        self._asked[self._next_ticket] = asked
        return self._next_ticket

    def asked(self, ticket: int) -> Predictive:
        """What was predicted when this ticket was given out."""
        return _as_tensors([self._ticket(ticket).mixture])

    def tell(self, ticket: int, y: float) -> None:
        """Learn the outcome of a row asked earlier; outcomes may come in any order."""
        asked, outcome = self._ticket(ticket), float(_outcomes([y], len(self))[0])
        self._note("tell", ticket, outcome)
        del self._asked[ticket]
        self._learner.tell(asked, outcome)

    def withdraw(self, ticket: int) -> None:
        """Give up a question whose outcome will not come."""
        self._ticket(ticket)
        del self._asked[ticket]

    def learn(self, rows: Rows, y: Outcomes) -> None:
        """Learn rows in this order, as by one `step` after the other but faster; none of them if one is refused."""
        checked, outcomes = _rows(rows), _outcomes(y, len(self))
        if len(checked) != len(outcomes):
            raise ShapeError(f"There are {len(checked)} rows and {len(outcomes)} outcomes: one for each was expected.")
        columns = self.columns.copy()
        for row in checked:
            columns.meet(row)
        if self.settings.undo:
            for row, outcome in zip(checked, outcomes.tolist(), strict=True):
                self.step(row, outcome)
            return
        self._learner.features.columns = columns
        self._learner.learn(columns.read(checked), outcomes)

    def forget(self, *, after: int) -> None:
        """Forget every row after the first `after`, as if they had never come, and the questions asked since then.

        Needs `undo`, the number of rows that can be taken back at most.
        """
        self._check_row(after, len(self))
        if after == len(self):
            return
        for event in self._back_to(after):
            if len(self) == after:
                break
            event.happen_to(self)

    def correct(self, row: int, y: float) -> None:
        """Learn that row number `row`, counted from 0, had another outcome; all that came after is learned again.

        Needs `undo`, the number of rows that can be taken back at most.
        """
        self._check_row(row, len(self) - 1)
        outcome = float(_outcomes([y], row)[0])
        for event in self._back_to(row):
            it = len(self) == row and event.learns
            (replace(event, given=(event.given[0], outcome)) if it else event).happen_to(self)

    def sample(self, rows: Rows, n: int, *, generator: torch.Generator | None = None) -> JointSample:
        """`n` coherent draws of the outcomes of these rows, coming in this order, and the marginals they imply."""
        raws = self._read(rows)
        if n < 1 or not len(raws):
            raise ShapeError(f"Sampling needs at least one draw and one row, not {n} and {len(raws)}.")
        draws, mixtures = [], []
        for _ in range(n):
            learner = self._learner.copy()
            # Nothing that is only imagined is alarming.
            learner.judge.watch = None
            steps = []
            for i, raw in enumerate(raws):
                asked = learner.ask(raw)
                predictive = _as_tensors([asked.mixture])
                steps.append((predictive, predictive.sample(generator)))
                if i + 1 < len(raws):
                    learner.tell(asked, steps[-1][1].item())
            draws.append(torch.cat([y for _, y in steps]))
            mixtures.append([p for p, _ in steps])
        return JointSample(torch.stack(draws), mixture_over_first_axis(_stacked(mixtures)))

    def log_prob(self, rows: Rows, y: Outcomes) -> float:
        """Joint log-density of these outcomes of rows coming in this order."""
        fork = self.fork()
        before = fork.monitor.log_score
        fork.learn(rows, y)
        return fork.monitor.log_score - before

    def fork(self) -> "StreamingRegressor":
        """Another regressor with the same past; neither sees the other's rows."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._learner, other._asked, other._journal = self._learner.copy(), {**self._asked}, self._journal.copy()
        return other

    def save(self, path: str | Path) -> Path:
        """Write everything to one file that `load` goes on from, bit for bit; open questions are kept."""
        tree, tensors = pack(self.state())
        header = {**facts_of(self.model), "settings": dataclasses.asdict(self.settings), "state": tree}
        return REGRESSOR.write(Path(path), header, tensors)

    @classmethod
    def load(cls, path: str | Path, model: NeuralProcess | None = None) -> Self:
        """Go on from a saved state; a model that does not ship with the package has to be given."""
        header, tensors = REGRESSOR.read(Path(path))
        settings = RegressorSettings.restore(header["settings"])
        regressor = cls.of(model_of(Path(path), header, model), settings)
        regressor.restore(unpack(header["state"], tensors))
        return regressor

    def state(self) -> dict[str, Any]:
        """Everything but model and settings, as a tree of plain values and arrays."""
        asked = [[ticket, asked.state()] for ticket, asked in self._asked.items()]
        return {"learner": self._learner.state(), "asked": asked, "tickets": self._next_ticket}

    def restore(self, state: dict[str, Any]) -> None:
        """Become what a regressor with the same model and settings was."""
        self._learner.restore(state["learner"])
        self._asked.update((ticket, Asked.restore(asked)) for ticket, asked in state["asked"])
        self._next_ticket = state["tickets"]
        self._journal = Journal(self.settings.undo)

    def _start(self, model: NeuralProcess, settings: RegressorSettings) -> None:
        self.model, self.settings = model, settings
        self._learner = fresh_learner(model, settings)
        self._asked: dict[int, Asked] = {}
        self._next_ticket = 0
        self._journal = Journal(settings.undo)

    def _note(self, name: str, *given: Any) -> None:
        """Something is about to happen."""
        if not self.settings.undo:
            return
        if self._journal.room(len(self)) <= 0:
            self._journal.begin(Mark(len(self), self._learner.copy(), {**self._asked}, self._next_ticket))
        self._journal.note(name, *given)

    def _check_row(self, row: int, most: int) -> None:
        if not 0 <= row <= most:
            raise RollbackError(f"There is no row {row} to go back to: {len(self)} rows are learned.")

    def _back_to(self, row: int) -> list[Event]:
        """Become what this was at the last mark before so many rows were learned; answers what happened since."""
        mark, events = self._journal.back_to(row)
        self._learner, self._asked, self._next_ticket = mark.learner.copy(), {**mark.asked}, mark.next_ticket
        return events

    def _ask(self, row: Row) -> Asked:
        checked = _rows([row])
        self.columns.meet(checked[0])
        return self._learner.ask(self.columns.read(checked)[0])

    def _read(self, rows: Rows) -> np.ndarray:
        """Rows as numbers, those of columns that were learned; texts that are new are told apart and not remembered."""
        checked, columns = _rows(rows), self.columns.copy()
        for row in checked:
            columns.meet(row)
        return columns.read(checked)[:, : len(self.columns)]

    def _ticket(self, ticket: int) -> Asked:
        if ticket not in self._asked:
            raise DataError(f"There is no open question {ticket}: it was never asked, or its outcome was told already.")
        return self._asked[ticket]


def fresh_learner(model: NeuralProcess, settings: RegressorSettings) -> Learner:
    """A learner of no rows."""
    views = [
        View(residual=view == "residual", seed=(settings.seed, group) if settings.groups > 1 else None)
        for view in settings.views
        for group in range(settings.groups)
    ]
    renewal = Renewal(
        max_points=settings.max_points,
        max_bytes=settings.max_bytes,
        bytes_per_row=len(views) * CONTEXTS * model.bytes_per_point(settings.storage),
        frozen_at=settings.calibration_rows if settings.normalisation == "calibrated" else None,
        scales=settings.scales,
    )
    if settings.max_bytes is not None and settings.max_bytes < LEAST_POINTS * renewal.bytes_per_row:
        raise ConfigError(
            f"max_bytes={settings.max_bytes} does not hold {LEAST_POINTS} rows, {renewal.bytes_per_row} bytes each and "
            "more: give more bytes, fewer views or groups, or narrower storage."
        )
    engine = Engine(model, settings.storage, settings.backend)
    networks = tuple(Network(engine, view, renewal) for view in views)
    features = Features(settings.lags, settings.recency, settings.advice)
    return Learner(features, networks, settings.blend, fresh_judge(settings))


def fresh_judge(settings: RegressorSettings) -> Judge:
    """One who has heard nothing."""
    if settings.alarm != "off":
        require_river()
    return Judge(
        Monitor(settings.level),
        CORRECTIONS[settings.recalibration](),
        Watch() if settings.alarm != "off" else None,
        settings.restart_rows if settings.alarm == "restart" else 0,
    )


@lru_cache(maxsize=8)
def _loaded(name: str) -> NeuralProcess:
    # Thousands of regressors share one model.
    return load(name)


def _rows(rows: Rows) -> list[Row]:
    listed = list(rows)
    for i, row in enumerate(listed):
        if not isinstance(row, Mapping):
            raise DataError(
                f"Row {i} is a {type(row).__name__}; a mapping from names of columns to values was expected."
            )
    return [row if all(type(name) is str for name in row) else _named(row) for row in listed]


def _named(row: Mapping[Any, Any]) -> Row:
    """With names that are texts, as files keep them."""
    return {str(name): value for name, value in row.items()}


def _outcomes(y: Outcomes, known: int) -> np.ndarray:
    try:
        outcomes = np.asarray(y, dtype=np.float64).reshape(len(y))
    except (TypeError, ValueError) as error:
        raise DataError(f"Outcomes must be numbers, one for each row: {error}.") from error
    if not np.isfinite(outcomes).all():
        row = int(np.flatnonzero(~np.isfinite(outcomes))[0])
        raise DataError(
            f"The outcome of row {known + row} is {outcomes[row]}, and only finite numbers can be learned. Leave the "
            f"row out, or ask it and tell its outcome when it is known; {known} rows are learned as before."
        )
    return outcomes


def _as_tensors(mixtures: Sequence[PlainMixture]) -> Mixture:
    """Mixtures of rows as one predictive, [row, 1]."""
    # By way of an array: torch reads nested lists slowly.
    parts = torch.from_numpy(np.array([[each.weights, each.means, each.stddevs] for each in mixtures]))
    weights, means, stddevs = parts.permute(1, 2, 0).unsqueeze(-1)
    return Mixture(weights.clamp(min=math.ulp(0.0)).log(), means, stddevs)


def _stacked(mixtures: Sequence[Sequence[Mixture]]) -> Mixture:
    """Predictives of each row of each draw as one, [draw, row, 1]; where parts are too few, parts without weight."""
    most = max(len(step.means) for draw in mixtures for step in draw)

    def parts(name: str, filling: float) -> torch.Tensor:
        filled = [
            [
                torch.nn.functional.pad(getattr(step, name)[:, 0, 0], (0, most - len(step.means)), value=filling)
                for step in draw
            ]
            for draw in mixtures
        ]
        return torch.stack([torch.stack(draw) for draw in filled]).permute(2, 0, 1).unsqueeze(-1)

    return Mixture(parts("log_weights", math.log(math.ulp(0.0))), parts("means", 0.0), parts("stddevs", 1.0))
