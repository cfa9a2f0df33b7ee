"""Independent oracles and small files that several tests of the generators share."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.gaussian_process import kernels

from inctnp.generators.kernels import PERIOD
from inctnp.generators.station_files import StationFile
from inctnp.generators.station_pack import open_pack

Covariance = Callable[[str, float, np.ndarray, np.ndarray], np.ndarray]
Conditioning = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]


@pytest.fixture
def reference_kernel() -> Covariance:
    """The kernel of this name and lengthscale as scikit-learn computes it."""
    make = {
        "rbf": kernels.RBF,
        "matern12": lambda scale: kernels.Matern(scale, nu=0.5),
        "matern32": lambda scale: kernels.Matern(scale, nu=1.5),
        "matern52": lambda scale: kernels.Matern(scale, nu=2.5),
        "periodic": lambda scale: kernels.ExpSineSquared(scale, periodicity=PERIOD),
    }
    return lambda name, scale, x1, x2: np.asarray(make[name](scale)(x1, x2))


@pytest.fixture
def condition() -> Conditioning:
    """Mean and covariance of a zero-mean Gaussian's last entries given its first, by the textbook formula."""

    def conditioned(cov: np.ndarray, y: np.ndarray, seen: int) -> tuple[np.ndarray, np.ndarray]:
        weights = cov[seen:, :seen] @ np.linalg.inv(cov[:seen, :seen])
        return weights @ y[:seen], cov[seen:, seen:] - weights @ cov[:seen, seen:]

    return conditioned


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder that holds nothing yet, and no memory of packs opened before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    open_pack.cache_clear()
    yield tmp_path / "cache"
    open_pack.cache_clear()


@pytest.fixture
def network(tmp_path: Path, own_cache: Path) -> StationFile:
    """Six stations, hourly, thirty days of March 2015; train is cold and later parts are much warmer."""
    generator = np.random.default_rng(5)
    times = np.arange(np.datetime64("2015-03-01T00", "h"), np.datetime64("2015-03-31T00", "h"))
    day = (times - times[0]).astype(int) // 24
    rows = []
    for number in range(6):
        celsius = np.where(day < 20, 0.0, 30.0) + 3 * generator.standard_normal(len(times))
        place = {"station_id": f"S{number}", "lat": 40.0 + number, "lon": 5.0 * number, "elev_m": 100.0 * number**2}
        rows.append(pd.DataFrame({"time_utc": times, "t2m_c": celsius, **place}))
    pd.concat(rows).sort_values("time_utc", kind="stable").to_parquet(tmp_path / "network.parquet")
    return StationFile(
        name="network",
        path=str(tmp_path / "network.parquet"),
        train=("2015-03-01", "2015-03-20"),
        validation=("2015-03-21", "2015-03-25"),
        test=("2015-03-26", "2015-03-30"),
    )


def _write_hadisd(
    path: Path,
    hours: Sequence[float],
    celsius: Sequence[float],
    elevation: float = 25.0,
    latitude: float = 51.478,
) -> None:
    """A station file as HadISD 3 writes it: coordinates of length one, a time axis with the empty hours left out."""
    filled = {"missing_value": -1e30, "flagged_value": -2e30, "units": "degree_Celsius"}
    data = xr.Dataset(
        {
            "longitude": ("coordinate_length", [-0.461], {"units": "degrees_east", "axis": "X"}),
            "latitude": ("coordinate_length", [latitude], {"units": "degrees_north", "axis": "Y"}),
            "elevation": ("coordinate_length", [elevation], {"units": "meters", "axis": "Z", "positive": "up"}),
            "station_id": ("long_character_length", np.array(list("037720-99999"), dtype="S1")),
            "temperatures": ("time", np.array(celsius, dtype=np.float64), {"long_name": "Dry bulb", **filled}),
            "dewpoints": ("time", np.full(len(hours), -1e30), filled),
            "quality_control_flags": (("time", "test"), np.zeros((len(hours), 3)), {"missing_value": -999.0}),
            "flagged_obs": (("time", "flagged"), np.full((len(hours), 2), -1e30), {"missing_value": -1e30}),
        },
        coords={
            "time": (
                "time",
                np.array(hours, dtype=np.float64),
                {"units": "hours since 1931-01-01 00:00", "calendar": "gregorian", "long_name": "time_of_measurement"},
            )
        },
        attrs={"station_id": "037720-99999", "featureType": "timeSeries"},
    )
    encoding = {"temperatures": {"_FillValue": -1e30}, "dewpoints": {"_FillValue": -1e30}}
    data.to_netcdf(path, engine="h5netcdf", encoding=encoding)


@pytest.fixture
def write_hadisd() -> Callable[..., None]:
    """Writes a station file from its path, hours since 1931 and temperatures."""
    return _write_hadisd
