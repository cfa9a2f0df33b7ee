"""Every contestant on every stream; what is measured is kept until its settings or weights change."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import inctnp
from inctnp.errors import ConfigError, IncTNPError, UnknownNameError
from inctnp.pretrained.registry import load
from inctnp.pretrained.weights import weights_hash
from inctnp.quality.contestant import Contestant
from inctnp.quality.ledger import Ledger, Row
from inctnp.quality.ours import OURS, Ours
from inctnp.quality.prequential import PROTOCOL, measure
from inctnp.quality.rivals import RIVALS
from inctnp.quality.streams import SOURCES, Source, source
from inctnp.regressor import StreamingRegressor

CONTESTANTS = (*OURS, *RIVALS)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is measured."""

    streams: tuple[str, ...] = tuple(SOURCES)
    contestants: tuple[str, ...] = CONTESTANTS
    limit: int = 1500
    """Rows taken of each stream."""
    seed: int = 0
    model: str = "tabular"

    def __post_init__(self) -> None:
        for name in self.contestants:
            if name not in CONTESTANTS:
                raise UnknownNameError(f"No contestant is called {name!r}: choose from {', '.join(CONTESTANTS)}.")
        if self.limit < 1:
            raise ConfigError(f"At least one row is taken of each stream, not {self.limit}.")


SMOKE = Scale(streams=("airline",), contestants=("last value", "linear", "boosting"), limit=60)
CPU = Scale()
SCALES = {"smoke": SMOKE, "cpu": CPU}


@dataclass(frozen=True)
class Cell:
    """One contestant on one stream."""

    stream: Source
    contestant: str
    scale: Scale

    @property
    def key(self) -> tuple[Any, ...]:
        return self.stream.name, self.contestant, self.scale.limit, self.scale.seed

    @property
    def config(self) -> dict[str, Any]:
        """Everything else that decides the numbers."""
        config: dict[str, Any] = {"protocol": PROTOCOL, "lags": list(self.stream.lags)}
        if self.contestant in OURS:
            config |= {"weights": weights_hash(load(self.scale.model))[:16], **OURS[self.contestant][1]}
        else:
            config["what"] = RIVALS[self.contestant][0]
        return config

    def make(self, rows: int) -> Contestant:
        """The contestant, knowing nothing yet."""
        lags = self.stream.lags
        if self.contestant in OURS:
            return Ours(StreamingRegressor(self.scale.model, lags=lags, **OURS[self.contestant][1]))
        return RIVALS[self.contestant][1](lags, rows, self.scale.seed)


def compare(scale: Scale, ledger: Ledger, tell: Callable[[str], None]) -> list[Row]:
    """Measure what is missing or stale; answers all measurements there are of this scale, or went before."""
    scale = _without_missing_model(scale, tell)
    for cells in _by_stream(scale):
        todo = [cell for cell in cells if _stale(cell, ledger)]
        if todo:
            _measure_stream(todo, ledger, tell)
    return collect(scale, ledger)


def collect(scale: Scale, ledger: Ledger) -> list[Row]:
    """The measurements of this scale, as they are."""
    rows = ledger.read()
    return [rows[cell.key] for cells in _by_stream(scale) for cell in cells if cell.key in rows]


def _without_missing_model(scale: Scale, tell: Callable[[str], None]) -> Scale:
    try:
        load(scale.model)
    except UnknownNameError as error:
        tell(f"{', '.join(OURS)}: {error}")
        return replace(scale, contestants=tuple(name for name in scale.contestants if name not in OURS))
    return scale


def _by_stream(scale: Scale) -> Iterator[list[Cell]]:
    for name in scale.streams:
        yield [Cell(source(name), contestant, scale) for contestant in scale.contestants]


def _stale(cell: Cell, ledger: Ledger) -> bool:
    row = ledger.read().get(cell.key)
    return row is None or row["config"] != json.loads(json.dumps(cell.config))


def _measure_stream(cells: Sequence[Cell], ledger: Ledger, tell: Callable[[str], None]) -> None:
    try:
        examples = cells[0].stream.rows(cells[0].scale.limit)
    except IncTNPError as error:
        tell(f"{cells[0].stream.name}: {error}")
        return
    for cell in cells:
        measured = measure(cell.make(len(examples)), examples)
        named = dict(zip(("stream", "contestant", "limit", "seed"), cell.key, strict=True))
        rounded = {name: float(f"{value:.6g}") for name, value in asdict(measured).items()}
        versions = {"inctnp": inctnp.__version__}
        ledger.add({**named, "config": cell.config, **rounded, "rows": measured.rows, "versions": versions})
        tell(f"{cell.stream.name}: {cell.contestant}, log score {measured.log_score:+.3f}")
