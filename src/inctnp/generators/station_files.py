"""Collections of weather-station observations: what is known of each, and which days train, validate and test.

A day belongs to one part only, within a file and across the files that share stations: London is in both
`gsod-cities` and `isd-21cities`, and most of `gsod-cities` is in `gsod-ecad`. The first two therefore split at the
same dates and both leave out July 2011, which is all the third has. HadISD covers the stations of all of them: a
model trained on its years 1980-2016 must not be tested on the other files' parts of those years.
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float

from inctnp.errors import ConfigError, MissingDataError, UnknownNameError
from inctnp.generators import files

PARTS = ("train", "validation", "test")
Days = tuple[str, str]
"""First and last day, both included, as ISO dates."""


@dataclass(frozen=True, kw_only=True)
class Region:
    """A box of latitudes and longitudes; inputs are scaled so that it becomes [-1, 1] x [-1, 1]."""

    south: float = -90.0
    north: float = 90.0
    west: float = -180.0
    east: float = 180.0

    def __post_init__(self) -> None:
        if not (-90 <= self.south < self.north <= 90 and -180 <= self.west < self.east <= 180):
            raise ConfigError(f"A region needs -90 <= south < north <= 90 and -180 <= west < east <= 180, not {self}.")

    def hold(self, lat: Float[np.ndarray, " place"], lon: Float[np.ndarray, " place"]) -> Bool[np.ndarray, " place"]:
        """Which of these places lie inside, the edges included."""
        return (self.south <= lat) & (lat <= self.north) & (self.west <= lon) & (lon <= self.east)


AFRICA_EUROPE = Region(south=-20.0, north=60.0, west=-10.0, east=52.0)
"""The paper's region."""
WORLD = Region()


def hours_since_epoch(day: str) -> int:
    """The hour at which a day starts.

    >>> hours_since_epoch("2000-01-02"), hours_since_epoch("1999-12-31")
    (24, -24)
    """
    try:
        return (date.fromisoformat(day) - date(2000, 1, 1)).days * 24
    except ValueError as error:
        raise ConfigError(f"Days are written YYYY-MM-DD, not {day!r}.") from error


@dataclass(frozen=True, kw_only=True)
class StationFile:
    """One collection of station observations, and how its days are split."""

    name: str
    """Give a variant with another region or other days its own name: of each name one pack is kept."""
    path: str
    """A registered file, a file or folder of your own, or one of that name below a data folder."""
    train: Days
    validation: Days
    test: Days
    time: str = "time_utc"
    value: str = "t2m_c"
    """Columns of a table; the others are station_id, lat, lon and elev_m."""
    region: Region = AFRICA_EUROPE
    same_place: float = 0.0
    """Stations closer than this many degrees are one place: the one with the most observations stays."""
    windows: int = 8
    """Size of task this file supports: windows, hours between them, contexts and targets."""
    delta: int = 6
    context: tuple[int, int] = (100, 2100)
    targets: int = 250

    def __post_init__(self) -> None:
        spans = sorted(self.span(part) for part in PARTS)
        if any(start >= stop for start, stop in spans) or spans[0][1] > spans[1][0] or spans[1][1] > spans[2][0]:
            raise ConfigError(
                f"The parts of {self.name} overlap or are empty: train {self.train}, validation {self.validation}, "
                f"test {self.test}. A day belongs to one part only."
            )

    def span(self, part: str) -> tuple[int, int]:
        """First hour of a part, and the first hour after it."""
        if part not in PARTS:
            raise UnknownNameError(f"A station file has the parts {', '.join(PARTS)}, not {part!r}.")
        first, last = dict(zip(PARTS, (self.train, self.validation, self.test), strict=True))[part]
        return hours_since_epoch(first), hours_since_epoch(last) + 24

    @property
    def redistributable(self) -> bool:
        """Whether the terms of the source allow passing copies on; unknown counts as no."""
        return self.path in files.FILES and files.FILES[self.path].redistributable

    def locate(self) -> Path:
        """Where the file or folder is."""
        if self.path in files.FILES:
            return files.find(self.path)
        places = [Path(self.path).expanduser(), *(folder / self.path for folder in files.folders())]
        for place in places:
            if place.exists():
                return place
        looked = ", ".join(dict.fromkeys(str(place) for place in places))
        raise MissingDataError(
            f"Station data {self.name!r} were expected at one of {looked}. Put them there, or point INCTNP_DATA at the "
            f"folder that holds {self.path}. HadISD's station files come from https://www.metoffice.gov.uk/hadobs/hadisd/."
        )


HADISD = StationFile(
    name="hadisd",
    path="stations/hadisd",
    train=("1980-01-01", "2016-12-31"),
    validation=("2017-01-01", "2017-12-31"),
    test=("2018-01-01", "2019-12-31"),
)
"""The paper's data: a folder of HadISD station files."""

_CITIES_TRAIN_END, _CITIES_VALIDATION, _CITIES_TEST_START = "2010-12-31", ("2011-01-01", "2011-06-30"), "2011-08-01"

GSOD_CITIES = StationFile(
    name="gsod-cities",
    path="stations/gsod_cities_daily_1995_2014.parquet",
    train=("1995-01-01", _CITIES_TRAIN_END),
    validation=_CITIES_VALIDATION,
    test=(_CITIES_TEST_START, "2014-04-07"),
    time="date",
    value="tmean_c",
    region=WORLD,
    delta=24,
)
"""Daily means of 318 cities of the world: long, and enough stations for contexts of the paper's size."""

ISD_21CITIES = StationFile(
    name="isd-21cities",
    path="stations/isd_21cities_3h_1980_2022.parquet",
    train=("1980-01-01", _CITIES_TRAIN_END),
    validation=_CITIES_VALIDATION,
    test=(_CITIES_TEST_START, "2022-12-31"),
    region=WORLD,
    context=(10, 130),
    targets=16,
)
"""Three-hourly, long, and few: 21 airports."""

SYNOP_FRANCE = StationFile(
    name="synop-france",
    path="stations/synop_france_3h.parquet",
    train=("2016-01-01", "2016-12-31"),
    validation=("2018-01-01", "2018-01-17"),
    test=("2024-12-01", "2024-12-31"),
    context=(20, 270),
    targets=32,
)
"""True six-hour windows, one year of training."""

GSOD_ECAD = StationFile(
    name="gsod-ecad",
    path="stations/gsod_ecad_daily_2011_07_01_12.parquet",
    train=("2011-07-01", "2011-07-06"),
    validation=("2011-07-07", "2011-07-09"),
    test=("2011-07-10", "2011-07-12"),
    time="date",
    value="tmean_c",
    same_place=0.02,
    windows=3,
    delta=24,
)
"""Twelve days at the paper's spatial density; places under both archives are merged."""

MET_EIREANN = StationFile(
    name="met-eireann",
    path="stations/met_eireann_2017_hourly.parquet",
    train=("2017-01-01", "2017-08-31"),
    validation=("2017-09-01", "2017-10-31"),
    test=("2017-11-01", "2017-12-31"),
    context=(20, 150),
    targets=20,
)
"""One year, so its test season is never trained on."""

TRENTINO = StationFile(
    name="trentino",
    path="stations/trentino_2004_2005_hourly.parquet",
    train=("2004-01-01", "2005-03-31"),
    validation=("2005-04-01", "2005-06-30"),
    test=("2005-07-01", "2005-12-31"),
    time="time_local",
    context=(20, 200),
    targets=25,
)
"""A hundred kilometres of mountains; its clock is taken as given, for its zone is not stated."""

STATION_FILES: dict[str, StationFile] = {
    file.name: file for file in (HADISD, GSOD_CITIES, ISD_21CITIES, SYNOP_FRANCE, GSOD_ECAD, MET_EIREANN, TRENTINO)
}


def station_file(name: str) -> StationFile:
    """The known collection of this name.

    >>> station_file("synop-france").delta, station_file("trentino").redistributable
    (6, False)
    """
    if name not in STATION_FILES:
        raise UnknownNameError(f"No station file is called {name!r}. Known: {', '.join(STATION_FILES)}.")
    return STATION_FILES[name]
