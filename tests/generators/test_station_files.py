import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from inctnp.errors import ConfigError, MissingDataError, UnknownNameError
from inctnp.generators.station_files import (
    AFRICA_EUROPE,
    GSOD_CITIES,
    GSOD_ECAD,
    HADISD,
    ISD_21CITIES,
    PARTS,
    STATION_FILES,
    Region,
    StationFile,
    hours_since_epoch,
    station_file,
)

SHARE_STATIONS = (GSOD_CITIES, ISD_21CITIES, GSOD_ECAD)


def overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def test_the_papers_region_and_years() -> None:
    assert HADISD.region == AFRICA_EUROPE == Region(south=-20.0, north=60.0, west=-10.0, east=52.0)
    assert HADISD.span("train") == (hours_since_epoch("1980-01-01"), hours_since_epoch("2017-01-01"))
    assert HADISD.span("test") == (hours_since_epoch("2018-01-01"), hours_since_epoch("2020-01-01"))


@pytest.mark.parametrize("file", STATION_FILES.values(), ids=STATION_FILES.keys())
def test_no_hour_of_a_file_is_in_two_parts(file: StationFile) -> None:
    for one, other in itertools.combinations(PARTS, 2):
        assert not overlap(file.span(one), file.span(other))


def test_no_hour_of_files_that_share_stations_is_in_two_parts() -> None:
    for one, other in itertools.permutations(SHARE_STATIONS, 2):
        for part, later in itertools.permutations(PARTS, 2):
            assert not overlap(one.span(part), other.span(later)), (one.name, part, other.name, later)


def test_overlapping_or_empty_parts_are_refused() -> None:
    with pytest.raises(ConfigError, match="A day belongs to one part only"):
        replace(HADISD, validation=("2016-12-31", "2017-12-31"))
    with pytest.raises(ConfigError, match="A day belongs to one part only"):
        replace(HADISD, validation=("2017-12-31", "2017-01-01"))


def test_a_day_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="YYYY-MM-DD"):
        replace(HADISD, train=("1980-13-01", "2016-12-31"))


def test_terms_are_recorded_and_unknown_means_no() -> None:
    allowed = {name for name, file in STATION_FILES.items() if file.redistributable}
    assert allowed == {"synop-france", "met-eireann"}
    assert not replace(HADISD, path="somewhere.csv").redistributable


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="Known: hadisd"):
        station_file("hadsid")
    with pytest.raises(UnknownNameError, match="train, validation, test"):
        HADISD.span("training")


def test_missing_data_say_where_they_were_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INCTNP_DATA", str(tmp_path))
    file = replace(HADISD, path="stations/no_such_folder")
    with pytest.raises(MissingDataError, match=r"no_such_folder.*metoffice\.gov\.uk"):
        file.locate()
    (tmp_path / "stations" / "no_such_folder").mkdir(parents=True)
    assert file.locate() == tmp_path / "stations" / "no_such_folder"


@pytest.mark.parametrize("box", [{"south": 5.0, "north": 5.0}, {"west": 20.0, "east": 10.0}, {"north": 91.0}])
def test_a_region_must_be_a_box_on_the_globe(box: dict) -> None:
    with pytest.raises(ConfigError, match="south < north"):
        Region(**box)
