"""From a station file to one record per station, with every row left out counted under its reason.

Two forms are read: HadISD station files (netCDF, one per station, plain or gzipped) and tables of many stations
(Parquet or CSV). Whatever the form, a station becomes a `StationRecord` with strictly increasing whole hours.

Time is whole hours since 2000-01-01 00:00, never wrapped. In float32 a whole number of hours is exact for 1900 years
either side, and a fraction of one good to a minute for 1970-2029; counted from 1931 it would be good to four.
"""

import gzip
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from inctnp.errors import DataError, MissingDataError
from inctnp.generators.station_files import StationFile

if TYPE_CHECKING:
    import pandas as pd

EPOCH = np.datetime64("2000-01-01T00:00:00", "s")
HOUR = 3600
PLAUSIBLE = (-100.0, 65.0)
"""Degrees Celsius that can have been measured near the ground."""
Groups = dict[str, Int[np.ndarray, " _"]]
"""The rows of each station of a table."""
HADISD_VARIABLES = ("latitude", "longitude", "elevation", "time", "temperatures")
NO_ELEVATION = -900.0
"""Stations lower than this carry a code for unknown, such as -999."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StationRecord:
    """What one station measured."""

    station: str
    lat: float
    lon: float
    elev: float
    hours: Int[np.ndarray, " observation"]
    """Since the epoch, strictly increasing."""
    celsius: Float[np.ndarray, " observation"]


def records(file: StationFile, dropped: Counter[str]) -> Iterator[StationRecord]:
    """Every usable station of a file; `dropped` counts what was left out, and why."""
    path = file.locate()
    read = _read_folder if path.is_dir() else _read_table
    for record in read(path, file, dropped):
        if not file.region.hold(np.array([record.lat]), np.array([record.lon])).all():
            dropped["outside the region"] += len(record.hours)
        elif not np.isfinite(record.elev) or record.elev < NO_ELEVATION:
            dropped["station without elevation"] += len(record.hours)
        elif len(record.hours):
            yield record


def tidy(
    seconds: Int[np.ndarray, " row"], celsius: Float[np.ndarray, " row"], dropped: Counter[str]
) -> tuple[Int[np.ndarray, " observation"], Float[np.ndarray, " observation"]]:
    """One station's rows as strictly increasing whole hours.

    Rows out of order are sorted. Minutes are rounded to the nearest hour, halves up. Of several rows for one hour the
    first in the file is kept. NaN and impossible temperatures are left out. Each decision is counted.
    """
    usable = _usable(celsius, dropped)
    seconds, celsius = seconds[usable], celsius[usable]
    hours = (seconds + HOUR // 2) // HOUR
    dropped["(kept) rounded to the hour"] += int((seconds % HOUR != 0).sum())
    dropped["(kept) out of order"] += int((np.diff(hours) < 0).sum())
    hours, first = np.unique(hours, return_index=True)
    dropped["second row for a station-hour"] += len(celsius) - len(first)
    return hours, celsius[first].astype(np.float32)


def _usable(celsius: Float[np.ndarray, " row"], dropped: Counter[str]) -> Bool[np.ndarray, " row"]:
    known = np.isfinite(celsius)
    possible = (celsius >= PLAUSIBLE[0]) & (celsius <= PLAUSIBLE[1])
    dropped["no temperature"] += int((~known).sum())
    dropped["impossible temperature"] += int((known & ~possible).sum())
    return np.asarray(known & possible)


# ---- tables ----------------------------------------------------------------------------------------------------------


def _read_table(path: Path, file: StationFile, dropped: Counter[str]) -> Iterator[StationRecord]:
    table = _load_table(path, ["station_id", "lat", "lon", "elev_m", file.time, file.value])
    seconds = _seconds(table[file.time], path)
    celsius = _numbers(table, file.value, path)
    place = {name: _numbers(table, name, path) for name in ("lat", "lon", "elev_m")}
    groups = _stations(table, path)
    lat, lon = _first(place["lat"], groups), _first(place["lon"], groups)
    inside = file.region.hold(lat, lon)
    # Far stations go first, for comparing the others takes the square of their number.
    groups = _keep(groups, inside, "outside the region", dropped)
    alone = ~_twins(lat[inside], lon[inside], [len(rows) for rows in groups.values()], file.same_place)
    for name, rows in _keep(groups, alone, "station at the place of another", dropped).items():
        hours, values = tidy(seconds[rows], celsius[rows], dropped)
        north, east, elev = (float(column[rows[0]]) for column in place.values())
        yield StationRecord(station=name, lat=north, lon=east, elev=elev, hours=hours, celsius=values)


def _first(column: Float[np.ndarray, " row"], groups: Groups) -> Float[np.ndarray, " station"]:
    """What the first row of each station says."""
    return column[[int(rows[0]) for rows in groups.values()]]


def _keep(groups: Groups, stays: Bool[np.ndarray, " station"], reason: str, dropped: Counter[str]) -> Groups:
    dropped[reason] += sum(len(rows) for rows, kept in zip(groups.values(), stays, strict=True) if not kept)
    return {name: rows for (name, rows), kept in zip(groups.items(), stays, strict=True) if kept}


def _load_table(path: Path, columns: list[str]) -> "pd.DataFrame":
    import pandas as pd

    table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, dtype={"station_id": str})
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise DataError(
            f"{path.name} lacks the columns {missing}: it has {list(table.columns)}. "
            "Rename yours, or name the time and value columns in the StationFile."
        )
    if table.empty:
        raise DataError(f"{path.name} has no rows.")
    return table[columns]


def _stations(table: "pd.DataFrame", path: Path) -> Groups:
    """The rows of each station, in their order in the file."""
    codes, names = table["station_id"].factorize(sort=True)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise DataError(f"Column station_id of {path.name} is empty in row {row}. Complete or remove that row.")
    groups = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return {str(name): rows for name, rows in zip(names, groups, strict=True)}


def _seconds(column: "pd.Series[Any]", path: Path) -> Int[np.ndarray, " row"]:
    import pandas as pd

    try:
        times = pd.to_datetime(column, utc=True).dt.tz_localize(None)
    except (ValueError, TypeError) as error:
        raise DataError(f"Column {column.name} of {path.name} holds something that is no time: {error}") from error
    if times.isna().any():
        row = int(np.flatnonzero(times.isna().to_numpy())[0])
        raise DataError(f"Column {column.name} of {path.name} has no time in row {row}. Remove or complete that row.")
    return (times.to_numpy().astype("datetime64[s]") - EPOCH).astype(np.int64)


def _numbers(table: "pd.DataFrame", name: str, path: Path) -> Float[np.ndarray, " row"]:
    try:
        return np.asarray(table[name].to_numpy(dtype=np.float64, na_value=np.nan))
    except (ValueError, TypeError) as error:
        raise DataError(f"Column {name} of {path.name} must hold numbers: {error}") from error


def _twins(
    lat: Float[np.ndarray, " station"], lon: Float[np.ndarray, " station"], rows: list[int], limit: float
) -> Bool[np.ndarray, " station"]:
    """Stations at the place of one with more observations, as happens where two archives were merged."""
    kept = np.zeros(len(rows), dtype=bool)
    for code in np.argsort([-count for count in rows], kind="stable").tolist():
        north = np.abs(lat - lat[code])
        east = np.abs(lon - lon[code]) * np.cos(np.radians(lat[code]))
        kept[code] = not np.any(kept & (north < limit) & (east < limit))
    return ~kept


# ---- HadISD ----------------------------------------------------------------------------------------------------------


def _read_folder(path: Path, file: StationFile, dropped: Counter[str]) -> Iterator[StationRecord]:
    """A folder of HadISD station files, in the order of their names."""
    paths = station_paths(path)
    if not paths:
        raise MissingDataError(f"{path} holds no HadISD station files (*.nc or *.nc.gz).")
    for one in paths:
        yield read_hadisd(one, dropped)


def station_paths(folder: Path) -> list[Path]:
    """The netCDF files of a folder, sorted."""
    return sorted(path for path in folder.iterdir() if path.name.endswith((".nc", ".nc.gz")))


def read_hadisd(path: Path, dropped: Counter[str]) -> StationRecord:
    """One HadISD station file.

    Its time axis is hours since 1931-01-01 with the hours without a report left out. Temperatures that never arrived
    hold the missing value (-1e30); those that quality control removed hold the flagged value (-2e30).
    """
    import xarray as xr

    try:
        content = io.BytesIO(gzip.decompress(path.read_bytes())) if path.suffix == ".gz" else path
        with xr.open_dataset(content, engine="h5netcdf", mask_and_scale=False) as data:
            lacking = [name for name in HADISD_VARIABLES if name not in data.variables]
            if lacking:
                raise ValueError(f"it lacks the variables {lacking}.")
            return _to_record(data, path, dropped)
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{path.name} cannot be read as a HadISD station file: {error}") from error


def _to_record(data: Any, path: Path, dropped: Counter[str]) -> StationRecord:
    lat, lon, elev = (float(np.ravel(data[name].values)[0]) for name in ("latitude", "longitude", "elevation"))
    variable = data["temperatures"]
    celsius = np.asarray(variable.values, dtype=np.float64)
    flagged = np.isclose(celsius, float(variable.attrs.get("flagged_value", -2e30)))
    missing = np.isclose(celsius, float(variable.attrs.get("missing_value", -1e30)))
    dropped["flagged by quality control"] += int(flagged.sum())
    dropped["no temperature"] += int(missing.sum())
    keep = ~(flagged | missing)
    times = data["time"].values.astype("datetime64[s]") - EPOCH
    hours, values = tidy(times.astype(np.int64)[keep], celsius[keep], dropped)
    station = data.attrs.get("station_id") or path.name.split(".nc")[0]
    east = lon - 360 if lon > 180 else lon
    return StationRecord(station=str(station), lat=lat, lon=east, elev=elev, hours=hours, celsius=values)
