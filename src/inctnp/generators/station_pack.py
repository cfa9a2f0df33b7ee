"""Station observations packed once into memory-mapped arrays, so that a batch costs milliseconds.

A pack is a folder of .npy files under the user's cache, sorted by hour, with the position of every hour's first
observation beside it: any window is a slice. It is written by a counting sort in two passes over the stations, so one
HadISD station at a time is in memory however many there are, and moved into place when complete. Its name carries a
hash of the source and of everything that decides what goes in: a changed source is packed again.
"""

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from rich.console import Console
from rich.progress import track

from inctnp.errors import DataError
from inctnp.generators import files
from inctnp.generators.station_files import PARTS, StationFile
from inctnp.generators.station_records import StationRecord, records, station_paths

FORMAT = 1
"""Raised when the layout changes, so that old packs are not read."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StationPack:
    """All usable observations of a collection in order of time."""

    stations: tuple[str, ...]
    places: Float[np.ndarray, "station 3"]
    """Latitude, longitude, elevation in metres."""
    first_hour: int
    starts: Int[np.ndarray, " hour"]
    """How many observations precede each hour from `first_hour` on."""
    hours: Int[np.ndarray, " observation"]
    station: Int[np.ndarray, " observation"]
    """Row of `places`."""
    celsius: Float[np.ndarray, " observation"]
    dropped: dict[str, int]
    """Rows left out, by reason; reasons that begin with (kept) are repairs."""

    def before(self, hours: Int[np.ndarray, "*any"]) -> Int[np.ndarray, "*any"]:
        """How many observations precede these hours."""
        return np.asarray(self.starts[np.clip(hours - self.first_hour, 0, len(self.starts) - 1)])


@lru_cache(maxsize=16)
def open_pack(file: StationFile) -> StationPack:
    """The pack of a collection, built if there is none of its content; a process looks once."""
    folder = files.cache_folder() / "packs" / f"{file.name}-{fingerprint(file)}"
    if not folder.is_dir():
        _build(file, folder)
    meta = json.loads((folder / "meta.json").read_text())
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("hours", "station", "celsius")}
    return StationPack(
        stations=tuple(meta["stations"]),
        places=np.load(folder / "places.npy"),
        first_hour=meta["first_hour"],
        starts=np.load(folder / "starts.npy"),
        dropped=meta["dropped"],
        **arrays,
    )


def fingerprint(file: StationFile) -> str:
    """Identifies what a pack of this file would hold.

    A table counts with its content. A folder of station files, tens of gigabytes for HadISD, counts with the names,
    sizes and times of change of its files.
    """
    path = file.locate()
    decides = (FORMAT, file.time, file.value, file.region, file.same_place, _range(file))
    digest = hashlib.blake2b(repr(decides).encode(), digest_size=8)
    if path.is_dir():
        for one in station_paths(path):
            stat = one.stat()
            digest.update(f"{one.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    else:
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _range(file: StationFile) -> tuple[int, int]:
    """The hours worth packing: from the earliest part to the latest."""
    spans = [file.span(part) for part in PARTS]
    return min(start for start, _ in spans), max(stop for _, stop in spans)


def _build(file: StationFile, folder: Path) -> None:
    partial = folder.with_name(f"{folder.name}.{os.getpid()}.part")
    partial.mkdir(parents=True)
    try:
        _write(file, partial)
        _publish(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _publish(partial: Path, folder: Path) -> None:
    """Move into place and remove packs of earlier content; another process may have been faster."""
    try:
        partial.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
    name = folder.name.rsplit("-", 1)[0]
    for old in folder.parent.iterdir():
        if old != folder and old.suffix != ".part" and old.name.rsplit("-", 1)[0] == name:
            shutil.rmtree(old, ignore_errors=True)


def _write(file: StationFile, folder: Path) -> None:
    first, stop = _range(file)
    dropped: Counter[str] = Counter()
    per_hour = np.zeros(stop - first, dtype=np.int64)
    stations: list[str] = []
    places: list[tuple[float, float, float]] = []
    for record in _progress(file, f"Counting {file.name}", dropped):
        inside = (record.hours >= first) & (record.hours < stop)
        dropped["outside every part"] += int((~inside).sum())
        per_hour[record.hours[inside] - first] += 1
        stations.append(record.station)
        places.append((record.lat, record.lon, record.elev))
    starts = np.concatenate([[0], np.cumsum(per_hour)])
    if starts[-1] == 0:
        raise DataError(f"{file.name} has no usable observation between its first and last day: {dict(+dropped)}.")
    _write_columns(file, folder, starts)
    np.save(folder / "places.npy", np.array(places))
    np.save(folder / "starts.npy", starts)
    meta = {"stations": stations, "first_hour": first, "dropped": dict(+dropped)}
    (folder / "meta.json").write_text(json.dumps(meta))


def _write_columns(file: StationFile, folder: Path, starts: Int[np.ndarray, " hour"]) -> None:
    """Each observation goes to the next free place of its hour."""
    first, stop = _range(file)
    types = {"hours": np.int32, "station": np.int32, "celsius": np.float32}
    hours, station, celsius = (
        np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=kind, shape=(int(starts[-1]),))
        for name, kind in types.items()
    )
    free = starts[:-1].copy()
    for number, record in enumerate(_progress(file, f"Packing {file.name}", Counter())):
        inside = (record.hours >= first) & (record.hours < stop)
        when = record.hours[inside]
        place = free[when - first]
        hours[place], station[place], celsius[place] = when, number, record.celsius[inside]
        free[when - first] += 1
    for column in (hours, station, celsius):
        column.flush()


def _progress(file: StationFile, label: str, dropped: Counter[str]) -> Iterator[StationRecord]:
    path = file.locate()
    total = len(station_paths(path)) if path.is_dir() else None
    console = Console(stderr=True)
    source = records(file, dropped)
    yield from track(source, label, total=total, console=console, transient=True, disable=not console.is_terminal)
