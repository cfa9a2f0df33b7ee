import gzip
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from inctnp.errors import DataError, MissingDataError
from inctnp.generators.station_files import HADISD, WORLD, StationFile, hours_since_epoch
from inctnp.generators.station_records import EPOCH, StationRecord, read_hadisd, records

Writer = Callable[..., None]
MISSING, FLAGGED = -1e30, -2e30
SINCE_1931 = int((EPOCH - np.datetime64("1931-01-01T00:00:00")) / np.timedelta64(1, "h"))


def test_a_hadisd_file_is_read_back_with_flagged_and_missing_values_counted(
    tmp_path: Path, write_hadisd: Writer
) -> None:
    hours = [SINCE_1931, SINCE_1931 + 1, SINCE_1931 + 6, SINCE_1931 + 7, SINCE_1931 + 30]
    write_hadisd(tmp_path / "hadisd.3.4.0_037720-99999.nc", hours, [4.5, MISSING, -2.0, FLAGGED, 7.25])
    dropped: Counter[str] = Counter()
    record = read_hadisd(tmp_path / "hadisd.3.4.0_037720-99999.nc", dropped)
    assert record.station == "037720-99999"
    assert (record.lat, record.lon, record.elev) == (51.478, -0.461, 25.0)
    assert record.hours.tolist() == [0, 6, 30]
    assert record.celsius.tolist() == [4.5, -2.0, 7.25]
    assert +dropped == {"no temperature": 1, "flagged by quality control": 1}


def test_a_gzipped_file_reads_like_a_plain_one(tmp_path: Path, write_hadisd: Writer) -> None:
    write_hadisd(tmp_path / "plain.nc", [0, 700_000, 780_000], [1.0, 2.0, 3.0])
    (tmp_path / "packed.nc.gz").write_bytes(gzip.compress((tmp_path / "plain.nc").read_bytes()))
    plain, packed = (read_hadisd(tmp_path / name, Counter()) for name in ("plain.nc", "packed.nc.gz"))
    assert np.array_equal(plain.hours, packed.hours) and np.array_equal(plain.celsius, packed.celsius)
    assert plain.hours.tolist() == [-SINCE_1931, 700_000 - SINCE_1931, 780_000 - SINCE_1931]


def test_a_folder_gives_the_stations_of_the_region_that_have_an_elevation(tmp_path: Path, write_hadisd: Writer) -> None:
    for number, elevation in enumerate([10.0, -999.0]):
        write_hadisd(tmp_path / f"station{number}.nc", [0, 1], [5.0, 6.0], elevation)
    dropped: Counter[str] = Counter()
    found = list(records(replace(HADISD, path=str(tmp_path)), dropped))
    assert [record.elev for record in found] == [10.0]
    assert +dropped == {"station without elevation": 2}
    assert not list(records(replace(HADISD, path=str(tmp_path), region=replace(WORLD, north=50.0)), dropped))
    assert dropped["outside the region"] == 4


def test_a_file_that_is_no_netcdf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.nc").write_text("not a netCDF file")
    with pytest.raises(DataError, match=r"broken\.nc cannot be read as a HadISD"):
        read_hadisd(tmp_path / "broken.nc", Counter())


def test_a_netcdf_file_of_something_else_is_refused(tmp_path: Path) -> None:
    xr.Dataset({"rain": ("time", [1.0])}).to_netcdf(tmp_path / "rain.nc", engine="h5netcdf")
    with pytest.raises(DataError, match=r"rain\.nc cannot be read.*lacks the variables \['latitude'"):
        read_hadisd(tmp_path / "rain.nc", Counter())


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="no HadISD station files"):
        list(records(replace(HADISD, path=str(tmp_path)), Counter()))


TABLE = pd.DataFrame(
    {
        "station_id": ["007", "007", "007", "008"],
        "lat": [50.0, 50.0, 50.0, 51.0],
        "lon": [4.0, 4.0, 4.0, 5.0],
        "elev_m": [30.0, 30.0, 30.0, 40.0],
        "time_utc": ["2016-01-01 00:00", "2016-01-01 03:00", "2016-01-01 06:00", "2016-01-01 00:00"],
        "t2m_c": [1.0, 2.0, 3.0, 4.0],
    }
)
AT = hours_since_epoch("2016-01-01")


def read(table: pd.DataFrame, folder: Path, **changes: object) -> tuple[list[StationRecord], dict[str, int]]:
    table.to_csv(folder / "table.csv", index=False)
    dropped: Counter[str] = Counter()
    file: StationFile = replace(HADISD, name="table", path=str(folder / "table.csv"), **changes)
    return list(records(file, dropped)), dict(+dropped)


def test_a_table_gives_one_record_per_station_and_keeps_leading_zeros(tmp_path: Path) -> None:
    (first, second), dropped = read(TABLE, tmp_path)
    assert (first.station, second.station) == ("007", "008")
    assert first.hours.tolist() == [AT, AT + 3, AT + 6] and second.celsius.tolist() == [4.0]
    assert dropped == {}


def test_rows_out_of_order_are_sorted_and_counted(tmp_path: Path) -> None:
    (first, _), dropped = read(TABLE.iloc[[2, 0, 1, 3]], tmp_path)
    assert first.hours.tolist() == [AT, AT + 3, AT + 6] and first.celsius.tolist() == [1.0, 2.0, 3.0]
    assert dropped == {"(kept) out of order": 1}


def test_of_two_rows_for_one_station_hour_the_first_is_kept_and_the_other_counted(tmp_path: Path) -> None:
    again = TABLE.iloc[[1]].assign(t2m_c=20.0)
    (first, _), dropped = read(pd.concat([TABLE, again]), tmp_path)
    assert first.celsius.tolist() == [1.0, 2.0, 3.0]
    assert dropped == {"second row for a station-hour": 1, "(kept) out of order": 1}


def test_minutes_are_rounded_to_the_hour_and_counted(tmp_path: Path) -> None:
    times = ["2016-01-01 00:20", "2016-01-01 02:30", "2016-01-01 06:00", "2015-12-31 23:50"]
    (first, second), dropped = read(TABLE.assign(time_utc=times), tmp_path)
    assert first.hours.tolist() == [AT, AT + 3, AT + 6] and second.hours.tolist() == [AT]
    assert dropped == {"(kept) rounded to the hour": 3}


def test_unusable_temperatures_are_left_out_and_counted(tmp_path: Path) -> None:
    (first, _), dropped = read(TABLE.assign(t2m_c=[np.nan, 400.0, 3.0, 4.0]), tmp_path)
    assert first.celsius.tolist() == [3.0]
    assert dropped == {"no temperature": 1, "impossible temperature": 1}


def test_stations_at_one_place_are_merged_into_the_longer_one(tmp_path: Path) -> None:
    near = TABLE.assign(lat=[50.0, 50.0, 50.0, 50.01], lon=[4.0, 4.0, 4.0, 4.01])
    (only,), dropped = read(near, tmp_path, same_place=0.02)
    assert only.station == "007" and dropped == {"station at the place of another": 1}
    assert len(read(near, tmp_path, same_place=0.005)[0]) == 2


def test_wrong_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"lacks the columns \['t2m_c'\].*it has \['station_id'"):
        read(TABLE.rename(columns={"t2m_c": "temp"}), tmp_path)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("t2m_c", "warm", "Column t2m_c of table.csv must hold numbers"),
        ("lat", "north", "Column lat of table.csv must hold numbers"),
        ("time_utc", "noon", "holds something that is no time"),
        ("time_utc", None, "has no time in row 2"),
        ("station_id", None, "is empty in row 2"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(tmp_path: Path, column: str, value: object, message: str) -> None:
    table = TABLE.astype({column: object})
    table.loc[2, column] = value
    with pytest.raises(DataError, match=message):
        read(table, tmp_path)


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no rows"):
        read(TABLE.iloc[:0], tmp_path)
