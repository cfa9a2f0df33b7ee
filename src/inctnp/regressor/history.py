"""The rows a regressor still holds, as they came, so that they can be encoded again."""

from typing import Any, Self

import numpy as np

LEAST_ROOM = 256


class History:
    """The newest rows: numbers of their columns, features, how many rows were known when they were asked, outcomes.

    `first` is the number of the oldest row held.
    """

    def __init__(self, first: int = 0, columns: int = 0, features: int = 0) -> None:
        self.first = first
        self._parts = {
            "raw": np.full((LEAST_ROOM, columns), np.nan),
            "features": np.full((LEAST_ROOM, features), np.nan),
            "asked": np.zeros((LEAST_ROOM, 1), dtype=np.int64),
            "y": np.zeros((LEAST_ROOM, 1)),
        }
        self._start = self._end = 0

    def __len__(self) -> int:
        return self._end - self._start

    @property
    def last(self) -> int:
        """One more than the number of the newest row: the rows ever learned."""
        return self.first + len(self)

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self._parts.values())

    @property
    def width(self) -> int:
        """Numbers kept of a row."""
        return sum(part.shape[1] for part in self._parts.values())

    def raw(self, start: int, end: int) -> np.ndarray:
        """Columns of the rows with these numbers; columns that came later are missing."""
        return self._slice("raw", start, end)

    def features(self, start: int, end: int) -> np.ndarray:
        return self._slice("features", start, end)

    def asked(self, start: int, end: int) -> np.ndarray:
        return self._slice("asked", start, end)[:, 0]

    def y(self, start: int, end: int) -> np.ndarray:
        return self._slice("y", start, end)[:, 0]

    def append(self, raw: np.ndarray, features: np.ndarray, asked: int, y: float) -> None:
        """Add a row; it may have more columns than those before."""
        self._make_room({"raw": len(raw), "features": len(features)})
        at = self._end
        self._parts["raw"][at, : len(raw)] = raw
        self._parts["features"][at, : len(features)] = features
        self._parts["asked"][at], self._parts["y"][at] = asked, y
        self._end += 1

    def set_y(self, row: int, y: float) -> None:
        self._parts["y"][self._start + row - self.first] = y

    def forget_before(self, row: int) -> None:
        """Let go of the rows before this number."""
        self._start += row - self.first
        self.first = row

    def copy(self) -> "History":
        return History.restore(self.state())

    def state(self) -> dict[str, Any]:
        """The rows held, and nothing of the room around them."""
        return {
            "first": self.first,
            "parts": {name: part[self._start : self._end] for name, part in self._parts.items()},
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        history = cls(state["first"])
        history._parts = {name: np.array(part) for name, part in state["parts"].items()}
        history._end = len(history._parts["y"])
        return history

    def _slice(self, name: str, start: int, end: int) -> np.ndarray:
        shift = self._start - self.first
        return self._parts[name][start + shift : end + shift]

    def _make_room(self, widths: dict[str, int]) -> None:
        wider = any(self._parts[name].shape[1] < width for name, width in widths.items())
        if not wider and self._end < len(self._parts["y"]):
            for name in widths:
                self._parts[name][self._end] = np.nan
            return
        # Twice what is needed: a row is then copied once on average.
        held, room = len(self), max(LEAST_ROOM, 2 * (len(self) + 1))
        for name, part in self._parts.items():
            width = max(part.shape[1], widths.get(name, 1))
            grown = np.full((room, width), np.nan if part.dtype.kind == "f" else 0, dtype=part.dtype)
            grown[:held, : part.shape[1]] = part[self._start : self._end]
            self._parts[name] = grown
        self._start, self._end = 0, held
