"""Everything a regressor knows of its stream: asks all forecasters about a row, and tells them its outcome."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from inctnp.predictive.plain import PlainMixture
from inctnp.regressor.blend import Blend
from inctnp.regressor.features import Features
from inctnp.regressor.forecasters import Forecasters, Mixed, Opinion
from inctnp.regressor.history import History
from inctnp.regressor.judge import Judge
from inctnp.regressor.network import Network, Parts


@dataclass(frozen=True, eq=False)
class Asked:
    """A row, what was known of it when it was asked, and what was answered."""

    raw: np.ndarray
    features: np.ndarray
    rows: int
    """Rows learned by then."""
    opinion: Opinion
    answers: tuple[Mixed | None, ...]
    """One of each forecaster, the networks first."""
    plain: PlainMixture
    """All answers as one distribution."""
    mixture: PlainMixture
    """The same after its correction."""

    def state(self) -> dict[str, Any]:
        return {**vars(self), **{name: vars(getattr(self, name)) for name in ("opinion", "plain", "mixture")}}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        changed = {
            "opinion": Opinion(**state["opinion"]),
            "answers": tuple(answer and tuple(answer) for answer in state["answers"]),
            "plain": PlainMixture(**state["plain"]),
            "mixture": PlainMixture(**state["mixture"]),
        }
        return cls(**{**state, **changed})


class Learner:
    """One row after the other, or many at once with the same result."""

    def __init__(self, features: Features, networks: tuple[Network, ...], blended: bool, judge: Judge) -> None:
        self.features, self.networks, self.blended, self.judge = features, networks, blended, judge
        self.forecasters = Forecasters()
        self.history = History(features=len(features.keys))
        self.blend = Blend.of(len(networks) + len(Forecasters.NAMES))
        for network in networks:
            network.begin(features, self.history)

    def ask(self, raw: np.ndarray) -> Asked:
        """What is expected of a row; nothing is learned from the question."""
        features, opinion = self._look(raw)
        parts = [network.ask(features[None], self.history.last) for network in self.networks]
        return self._asked(raw, features, opinion, [_column(part, 0) for part in parts])

    def ask_many(self, raws: np.ndarray) -> list[PlainMixture]:
        """What is expected of several rows, each as if it came next."""
        looks = [self._look(raw) for raw in raws]
        features = np.stack([look[0] for look in looks])
        parts = [network.ask(features, self.history.last) for network in self.networks]
        return [
            self._asked(raw, look[0], look[1], [_column(part, i) for part in parts]).mixture
            for i, (raw, look) in enumerate(zip(raws, looks, strict=True))
        ]

    def tell(self, asked: Asked, y: float) -> None:
        """Learn the outcome of a row that was asked."""
        alarm = self._judge(asked.answers, asked.plain, asked.mixture, y)
        self._take(asked.raw, asked.features, asked.rows, asked.opinion, y)
        for network in self.networks:
            network.absorb(self.features, self.history, 1)
        if alarm:
            self._restart()
        self._let_go()

    def learn(self, raws: np.ndarray, y: np.ndarray) -> None:
        """Ask and tell row after row, the networks several rows at a time."""
        start = 0
        while start < len(y):
            count = min(len(y) - start, *(network.room(self.history) for network in self.networks))
            # A restart changes what the next row is told.
            count = 1 if self.judge.restart_rows else count
            if count == 1:
                self.tell(self.ask(raws[start]), float(y[start]))
            else:
                self._learn_together(raws[start : start + count], y[start : start + count])
            start += count

    def copy(self) -> "Learner":
        other = object.__new__(Learner)
        other.features, other.forecasters, other.history = (
            self.features.copy(),
            self.forecasters.copy(),
            self.history.copy(),
        )
        other.networks = tuple(network.copy() for network in self.networks)
        other.blend, other.judge, other.blended = self.blend.copy(), self.judge.copy(), self.blended
        return other

    def state(self) -> dict[str, Any]:
        """Everything learned, as a tree of plain values and arrays."""
        parts = {name: getattr(self, name).state() for name in _PARTS}
        return {**parts, "networks": [network.state() for network in self.networks]}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what a learner with the same settings had learned."""
        for name, kind in _PARTS.items():
            setattr(self, name, kind(state[name]))
        for network, part in zip(self.networks, state["networks"], strict=True):
            network.restore(part)

    def _look(self, raw: np.ndarray) -> tuple[np.ndarray, Opinion]:
        features = self.features.of(raw)
        opinion = self.forecasters.opinion(features[1:], self.features.active()[1:])
        features[0] = opinion.linear
        return features, opinion

    def _asked(self, raw: np.ndarray, features: np.ndarray, opinion: Opinion, networks: list[Mixed | None]) -> Asked:
        answers = (*networks, *self.forecasters.answers(opinion))
        plain = self._together(answers)
        return Asked(raw, features, self.history.last, opinion, answers, plain, self.judge.correction.of(plain))

    def _learn_together(self, raws: np.ndarray, y: np.ndarray) -> None:
        simple = []
        for raw, outcome in zip(raws, y.tolist(), strict=True):
            features, opinion = self._look(raw)
            simple.append(self.forecasters.answers(opinion))
            self._take(raw, features, self.history.last, opinion, outcome)
        parts = [network.absorb(self.features, self.history, len(y)) for network in self.networks]
        for i, outcome in enumerate(y.tolist()):
            answers = (*(_column(part, i) for part in parts), *simple[i])
            plain = self._together(answers)
            self._judge(answers, plain, self.judge.correction.of(plain), outcome)
        self._let_go()

    def _take(self, raw: np.ndarray, features: np.ndarray, rows: int, opinion: Opinion, y: float) -> None:
        self.history.append(raw, features, rows, y)
        self.forecasters.learn(features[1:], opinion, y)
        self.features.learn(raw, y)

    def _together(self, answers: tuple[Mixed | None, ...]) -> PlainMixture:
        """One mixture of all answers; of the networks' alone where nothing is blended and one answered."""
        count = len(self.networks)
        answered = np.array([answer is not None for answer in answers])
        if not self.blended and answered[:count].any():
            answered[count:] = False
        weights: list[float] = []
        means: list[float] = []
        stddevs: list[float] = []
        for answer, share, counted in zip(answers, self.blend.shares(answered).tolist(), answered, strict=True):
            if answer is not None and counted:
                weights += [share * weight for weight in answer[0]]
                means += answer[1]
                stddevs += answer[2]
        return PlainMixture(weights, means, stddevs)

    def _judge(self, answers: tuple[Mixed | None, ...], plain: PlainMixture, mixture: PlainMixture, y: float) -> bool:
        """Whether what was learned so far is to be let go."""
        self.blend.learn(np.array([PlainMixture(*answer).log_prob(y) if answer else np.nan for answer in answers]))
        return self.judge.hear(plain, mixture, y)

    def _restart(self) -> None:
        """Go on from the newest rows only: relations of the rows before are over."""
        last, count = self.history.last, min(self.judge.restart_rows, len(self.history))
        features, outcomes = self.history.features(last - count, last), self.history.y(last - count, last)
        self.forecasters = Forecasters()
        active = self.features.active()[1 : features.shape[1]]
        for row, y in zip(features[:, 1:], outcomes.tolist(), strict=True):
            self.forecasters.learn(row, self.forecasters.opinion(row, active), y)
        for network in self.networks:
            network.restart(self.features, self.history, last - count)

    def _let_go(self) -> None:
        first = min(network.first for network in self.networks)
        if first > self.history.first:
            self.history.forget_before(first)


_PARTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "features": Features.restore,
    "forecasters": Forecasters.restore,
    "history": History.restore,
    "blend": lambda state: Blend(**state),
    "judge": Judge.restore,
}
"""How each is made again."""


def _column(parts: Parts | None, row: int) -> Mixed | None:
    return None if parts is None else (parts[0][:, row].tolist(), parts[1][:, row].tolist(), parts[2][:, row].tolist())
