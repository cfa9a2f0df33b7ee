"""Many streams by name, one model: those used lately in memory, the others in files until they are asked for again."""

import json
import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from safetensors import safe_open
from safetensors.torch import save_file

from inctnp.errors import ConfigError, DataError
from inctnp.models.base import NeuralProcess
from inctnp.predictive.base import Predictive
from inctnp.regressor.columns import Row
from inctnp.regressor.monitor import Monitor
from inctnp.regressor.packing import pack, unpack
from inctnp.regressor.session import Outcomes, Rows, StreamingRegressor
from inctnp.regressor.settings import RegressorSettings
from inctnp.streaming.sealed import Kind, facts_of, model_of

BANK = Kind("inctnp-bank", 1, "bank")
LOOK = 16
"""Rows between two looks at how large a stream has become."""


class StreamingBank:
    """A `StreamingRegressor` for every key, begun when the key is first seen.

    `open_bytes` bounds what the streams in memory take together; those not used for longest move to files in `folder`,
    a temporary one unless it is given, and come back with the same bits. The files belong to this object alone: what is
    to be kept is kept by `save`.

    >>> import inctnp
    >>> model = inctnp.build(inctnp.ModelConfig(name="inctnp-seq", dim_x=20, prior=True)).eval()
    >>> bank = StreamingBank(model)
    >>> for key, speed in (("a", 1.0), ("b", 2.0), ("a", 3.0)):
    ...     p = bank.step(key, {"speed": speed}, 2 * speed)
    >>> len(bank), list(bank), bank.rows("a")
    (2, ['a', 'b'], 2)
    """

    def __init__(
        self,
        model: str | Path | NeuralProcess = "tabular",
        *,
        open_bytes: int = 1 << 29,
        folder: str | Path | None = None,
        **settings: Any,
    ) -> None:
        """Start with no streams; `settings` are the fields of `RegressorSettings`, the same for all."""
        first = StreamingRegressor(model, **settings)
        if first.settings.undo:
            raise ConfigError("Streams of a bank cannot be undone, for files do not keep what that takes: undo=0.")
        self._start(first.model, first.settings, open_bytes, folder)

    def __len__(self) -> int:
        """Keys seen."""
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    @property
    def nbytes(self) -> int:
        """Bytes of the streams in memory, as of the last look at each."""
        return sum(self._bytes.values())

    @property
    def open(self) -> int:
        """Streams in memory."""
        return len(self._open)

    def rows(self, key: str) -> int:
        """Rows learned under a key."""
        return self._rows.get(key, 0)

    def monitor(self, key: str) -> Monitor:
        """How good the predictions under a key have been."""
        return self._known(key).monitor

    def predict(self, key: str, rows: Rows) -> Predictive:
        """The predictive of each row; a key never seen is answered as by a stream without rows, and not kept."""
        if key not in self._rows:
            return StreamingRegressor.of(self.model, self.settings).predict(rows)
        return self._known(key).predict(rows)

    def step(self, key: str, row: Row, y: float) -> Predictive:
        """Predict a row, then learn its outcome."""
        stream = self._opened(key)
        predictive = stream.step(row, y)
        self._changed(key, stream)
        return predictive

    def learn(self, key: str, rows: Rows, y: Outcomes) -> None:
        """Learn rows in this order."""
        stream = self._opened(key)
        stream.learn(rows, y)
        self._changed(key, stream)

    def ask(self, key: str, row: Row) -> int:
        """A ticket for a row whose outcome comes later; every key counts its own."""
        stream = self._opened(key)
        ticket = stream.ask(row)
        self._changed(key, stream)
        return ticket

    def asked(self, key: str, ticket: int) -> Predictive:
        """What was predicted when this ticket was given out."""
        return self._known(key).asked(ticket)

    def tell(self, key: str, ticket: int, y: float) -> None:
        """Learn the outcome of a row asked earlier."""
        stream = self._known(key)
        stream.tell(ticket, y)
        self._changed(key, stream)

    def close(self) -> None:
        """Delete the files of streams that are not in memory."""
        self._delete()

    def save(self, path: str | Path, **about: Any) -> Path:
        """Write all streams to one file that `load` goes on from, bit for bit; they pass through memory.

        `about` is kept beside them and is to be found under this name afterwards.
        """
        trees = {key: self._tree(key) for key in self._rows}
        tree, tensors = pack(trees)
        header = {
            **facts_of(self.model),
            "settings": vars(self.settings),
            "keys": list(self._rows),
            "streams": tree,
            "about": about,
        }
        return BANK.write(Path(path), header, tensors)

    @classmethod
    def load(
        cls,
        path: str | Path,
        model: NeuralProcess | None = None,
        *,
        open_bytes: int = 1 << 29,
        folder: str | Path | None = None,
    ) -> Self:
        """Go on from a saved bank; a model that does not ship with the package has to be given."""
        header, tensors = BANK.read(Path(path))
        bank = object.__new__(cls)
        bank._start(
            model_of(Path(path), header, model), RegressorSettings.restore(header["settings"]), open_bytes, folder
        )
        bank.about = header["about"]
        for key in header["keys"]:
            stream = StreamingRegressor.of(bank.model, bank.settings)
            stream.restore(unpack(header["streams"][key], tensors))
            bank._open[key] = stream
            bank._changed(key, stream)
        return bank

    def _start(
        self, model: NeuralProcess, settings: RegressorSettings, open_bytes: int, folder: str | Path | None
    ) -> None:
        self.model, self.settings, self.open_bytes = model, settings, open_bytes
        self.about: dict[str, Any] = {}
        """What was kept beside the streams when they were saved."""
        self._folder = Path(tempfile.mkdtemp(prefix="inctnp-bank-", dir=folder))
        # With this object, or when the program ends.
        self._delete = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._open: OrderedDict[str, StreamingRegressor] = OrderedDict()
        """In memory, the one used last at the end."""
        self._rows: dict[str, int] = {}
        self._bytes: dict[str, int] = {}
        self._files: dict[str, Path] = {}
        self._stale: set[str] = set()
        """Keys whose file, if any, is not what is in memory."""

    def _known(self, key: str) -> StreamingRegressor:
        if key not in self._rows:
            raise DataError(f"No row was ever seen under the key {key!r}.")
        return self._opened(key)

    def _opened(self, key: str) -> StreamingRegressor:
        """The stream of a key, the latest of those in memory from now on."""
        stream = self._open.get(key)
        if stream is None:
            stream = StreamingRegressor.of(self.model, self.settings)
            if key in self._files:
                stream.restore(_read(self._files[key]))
            self._open[key] = stream
            self._bytes[key] = stream.nbytes
            self._make_room()
        self._open.move_to_end(key)
        return stream

    def _changed(self, key: str, stream: StreamingRegressor) -> None:
        before, self._rows[key] = self._rows.get(key, 0), len(stream)
        self._stale.add(key)
        if len(stream) // LOOK != before // LOOK or key not in self._bytes:
            self._bytes[key] = stream.nbytes
            self._make_room()

    def _make_room(self) -> None:
        """Move streams to files until the others fit, but for the newest."""
        while len(self._open) > 1 and self.nbytes > self.open_bytes:
            key, stream = self._open.popitem(last=False)
            del self._bytes[key]
            if key in self._stale:
                self._stale.discard(key)
                # Keys may hold anything, so files are numbered.
                file = self._files.setdefault(key, self._folder / str(len(self._files)))
                _write(file, stream.state())

    def _tree(self, key: str) -> Any:
        return self._open[key].state() if key in self._open else _read(self._files[key])


def _write(file: Path, tree: Any) -> None:
    """Without seal and without waiting for the disk: nobody else reads it, and nobody after this process."""
    plain, tensors = pack(tree)
    save_file({name: tensor.clone() for name, tensor in tensors.items()}, file, {"tree": json.dumps(plain)})


def _read(file: Path) -> Any:
    with safe_open(file, framework="pt") as opened:
        plain = json.loads(opened.metadata()["tree"])
        return unpack(plain, {name: opened.get_tensor(name) for name in opened.keys()})  # noqa: SIM118  # no mapping
