"""The streams: UCI tables in the order of their files, those bundled with River, and weather stations.

None is copied: UCI tables and station files are found by `inctnp.generators.files`, River's lie in its package.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from inctnp.errors import UnknownNameError
from inctnp.generators.real_tables import RECIPES, load_table
from inctnp.generators.station_files import station_file
from inctnp.generators.station_records import StationRecord, records
from inctnp.regressor.columns import Row

Example = tuple[Row, float]
SERIES_LAGS, OTHER_LAGS = (1, 2, 24), (1,)
"""Earlier outcomes that everybody gets as inputs: where rows are one series in the order of time, and elsewhere."""
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
RIVER = {
    "airline": "AirlinePassengers",
    "chicks": "ChickWeights",
    "stocks": "SP500Stocks",
    "approval": "TrumpApproval",
    "water": "WaterFlow",
}
UNORDERED_RIVER = ("chicks",)
"""Each row is of another bird than the one before."""
SERIES = ("met-eireann", "trentino", "isd-21cities", "gsod-cities")
FIELDS = ("synop-france", "gsod-ecad")


@dataclass(frozen=True)
class Source:
    """Where a stream comes from, and which of its past outcomes are inputs."""

    name: str
    about: str
    lags: tuple[int, ...]
    read: Callable[[], Iterator[Example]]

    def rows(self, limit: int) -> list[Example]:
        """The first rows."""
        return list(islice(self.read(), limit))


def source(name: str) -> Source:
    """The stream of this name."""
    if name not in SOURCES:
        raise UnknownNameError(f"No stream is called {name!r}: choose from {', '.join(SOURCES)}.")
    return SOURCES[name]


def _table(name: str) -> Iterator[Example]:
    table = load_table(name)
    for x, y in zip(table.x.tolist(), table.y[:, 0].tolist(), strict=True):
        yield dict(zip(table.features, x, strict=True)), y


def _river(name: str) -> Iterator[Example]:
    # An extra: imported when a stream of it is asked for.
    from river import datasets

    # Read to the end: River closes a file only there.
    for x, y in list(getattr(datasets, name)()):
        yield x, float(y)


def _series(name: str) -> Iterator[Example]:
    """The station with the most observations on the days kept for tests, hour by hour."""
    for record, hour, celsius in _observed([max(_test_days(name), key=lambda record: len(record.hours))]):
        del record
        yield {"time": EPOCH + timedelta(hours=hour)}, celsius


def _field(name: str) -> Iterator[Example]:
    """All stations, in the order of time and, within an hour, of their names."""
    for record, hour, celsius in _observed(_test_days(name)):
        place = {"lat": record.lat, "lon": record.lon, "elevation": record.elev}
        yield {"time": EPOCH + timedelta(hours=hour), **place}, celsius


def _test_days(name: str) -> list[StationRecord]:
    """Records cut to the days on which no model may be trained."""
    file = station_file(name)
    start, stop = file.span("test")
    kept = []
    for record in sorted(records(file, Counter()), key=lambda record: record.station):
        inside = (record.hours >= start) & (record.hours < stop)
        parts: dict[str, Any] = {**vars(record), "hours": record.hours[inside], "celsius": record.celsius[inside]}
        kept.append(StationRecord(**parts))
    return kept


def _observed(kept: list[StationRecord]) -> Iterator[tuple[StationRecord, int, float]]:
    observed = [
        (hour, number, celsius)
        for number, record in enumerate(kept)
        for hour, celsius in zip(record.hours.tolist(), record.celsius.tolist(), strict=True)
    ]
    for hour, number, celsius in sorted(observed):
        yield kept[number], hour, celsius


def _all() -> Iterator[Source]:
    for name in RECIPES:
        yield Source(name, "UCI table, rows as in its file", OTHER_LAGS, lambda name=name: _table(name))
    for short, name in RIVER.items():
        lags = OTHER_LAGS if short in UNORDERED_RIVER else SERIES_LAGS
        yield Source(short, f"River's {name}", lags, lambda name=name: _river(name))
    for name in SERIES:
        yield Source(name, "temperature at one station", SERIES_LAGS, lambda name=name: _series(name))
    for name in FIELDS:
        yield Source(name, "temperature at all stations", OTHER_LAGS, lambda name=name: _field(name))


SOURCES = {each.name: each for each in _all()}
