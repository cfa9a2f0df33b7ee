"""Several outcomes of the same rows, each predicted on its own."""

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from inctnp.errors import ConfigError, DataError
from inctnp.models.base import NeuralProcess
from inctnp.predictive.base import Predictive
from inctnp.regressor.bank import StreamingBank
from inctnp.regressor.columns import Row
from inctnp.regressor.monitor import Monitor
from inctnp.regressor.session import Rows


class StreamingOutputs:
    """One stream per outcome, all with one model.

    An outcome that is None is not learned, so outcomes need not be known together.

    >>> import inctnp
    >>> model = inctnp.build(inctnp.ModelConfig(name="inctnp-seq", dim_x=20, prior=True)).eval()
    >>> outputs = StreamingOutputs(["heat", "cold"], model)
    >>> p = outputs.step({"hour": 3}, {"heat": 1.5, "cold": None})
    >>> sorted(p), outputs.rows("heat"), outputs.rows("cold")
    (['cold', 'heat'], 1, 0)
    """

    def __init__(self, names: Sequence[str], model: str | Path | NeuralProcess = "tabular", **settings: Any) -> None:
        """Start with no rows; `settings` are the fields of `RegressorSettings`, the same for all."""
        if not names or len(set(names)) < len(names):
            raise ConfigError(f"Every outcome needs a name of its own, and there must be one: not {list(names)}.")
        self.names = tuple(names)
        self._bank = StreamingBank(model, open_bytes=sys.maxsize, **settings)

    def rows(self, name: str) -> int:
        """Rows of an outcome that are learned."""
        return self._bank.rows(self._known(name))

    def monitor(self, name: str) -> Monitor:
        """How good the predictions of an outcome have been; refused before the first."""
        return self._bank.monitor(self._known(name))

    def predict(self, rows: Rows) -> dict[str, Predictive]:
        """The predictives of each row, by outcome."""
        return {name: self._bank.predict(name, rows) for name in self.names}

    def step(self, row: Row, y: Mapping[str, float | None]) -> dict[str, Predictive]:
        """Predict all outcomes of a row, then learn those that are known; none if one is refused."""
        for name, value in y.items():
            self._known(name)
            if value is not None and not math.isfinite(value):
                raise DataError(f"The outcome {name!r} is {value}: only finite numbers can be learned, None skips it.")
        told = {name: y.get(name) for name in self.names}
        return {
            name: self._bank.predict(name, [row]) if value is None else self._bank.step(name, row, value)
            for name, value in told.items()
        }

    def save(self, path: str | Path) -> Path:
        """Write everything to one file that `load` goes on from, bit for bit."""
        return self._bank.save(path, outputs=list(self.names))

    @classmethod
    def load(cls, path: str | Path, model: NeuralProcess | None = None) -> Self:
        """Go on from a saved state."""
        outputs = object.__new__(cls)
        outputs._bank = StreamingBank.load(path, model, open_bytes=sys.maxsize)
        outputs.names = tuple(outputs._bank.about["outputs"])
        return outputs

    def _known(self, name: str) -> str:
        if name not in self.names:
            raise DataError(f"No outcome is called {name!r}: there are {', '.join(self.names)}.")
        return name
