import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

from inctnp.errors import ConfigError, DataError
from inctnp.generators import files
from inctnp.generators.station_files import (
    GSOD_CITIES,
    GSOD_ECAD,
    HADISD,
    PARTS,
    SYNOP_FRANCE,
    StationFile,
    hours_since_epoch,
)
from inctnp.generators.station_pack import open_pack
from inctnp.generators.stations import StationScaling, StationTasks, station_tasks, training_scaling
from inctnp.task import Task


def small(file: StationFile, **changes: object) -> StationTasks:
    settings = {"windows": 4, "context": (5, 12), "targets": 6, "batch_size": 8, "seed": 3}
    return StationTasks(**{"file": file, **settings, **changes})


def hours_of(task: Task) -> tuple[torch.Tensor, torch.Tensor]:
    return task.xc[..., 3], task.xt[..., 3]


def station_hours(task: Task) -> list[set[tuple[float, ...]]]:
    """Inputs of each task, which name a station and an hour."""
    x, _ = task.as_sequence()
    return [set(map(tuple, rows.tolist())) for rows in x]


@pytest.mark.parametrize("goal", ["interpolation", "forecasting"])
def test_no_station_hour_is_in_two_parts(network: StationFile, goal: str) -> None:
    seen = {
        part: set().union(
            *(rows for step in range(60) for rows in station_hours(small(network, part=part, goal=goal).batch(step)))
        )
        for part in PARTS
    }
    assert all(len(rows) > 200 for rows in seen.values())
    assert not seen["train"] & seen["validation"] and not seen["validation"] & seen["test"]
    assert not seen["train"] & seen["test"]
    for part, rows in seen.items():
        start, stop = network.span(part)
        assert all(start <= row[3] < stop for row in rows)


@pytest.mark.parametrize("goal", ["interpolation", "forecasting"])
def test_the_context_is_in_order_of_time_on_the_grid_of_windows(network: StationFile, goal: str) -> None:
    for step in range(20):
        xc, xt = hours_of(small(network, goal=goal).batch(step))
        assert (xc.diff(dim=1) >= 0).all()
        together = torch.cat([xc, xt], dim=1)
        assert ((together - together.amin(dim=1, keepdim=True)) % 6 == 0).all()
        assert (together.amax(dim=1) - together.amin(dim=1) <= 18).all()


def test_stations_of_one_instant_come_in_random_order(network: StationFile) -> None:
    task = small(network, context=(18, 18), batch_size=64).batch(0)
    tied = task.xc[:, 1:, 3] == task.xc[:, :-1, 3]
    northward = (task.xc[:, 1:, 0] > task.xc[:, :-1, 0])[tied].float().mean()
    assert tied.sum() > 200 and 0.4 < northward < 0.6


def test_forecasting_targets_are_the_last_window_strictly_after_the_context(network: StationFile) -> None:
    for step in range(20):
        xc, xt = hours_of(small(network, goal="forecasting").batch(step))
        assert (xt == xt[:, :1]).all() and (xt[:, 0] > xc.amax(dim=1)).all()


def test_interpolation_targets_are_spread_over_all_windows(network: StationFile) -> None:
    task = small(network, context=(12, 12), batch_size=400).batch(0)
    both = torch.cat(hours_of(task), dim=1)
    window = (task.xt[..., 3] - both.amin(dim=1, keepdim=True)) / 6
    assert stats.chisquare(torch.bincount(window.flatten().long(), minlength=4).numpy()).pvalue > 1e-3


def test_no_observation_is_both_context_and_target(network: StationFile) -> None:
    for goal in ("interpolation", "forecasting"):
        task = small(network, goal=goal).batch(1)
        assert all(len(rows) == task.xc.shape[1] + 6 for rows in station_hours(task))


def test_points_carry_the_values_of_the_file(network: StationFile) -> None:
    table, scaling = pd.read_parquet(network.path), training_scaling(network)
    hours = hours_since_epoch("2015-03-01") + (table.time_utc - pd.Timestamp("2015-03-01")) // pd.Timedelta("1h")
    known = {(lat, hour): celsius for lat, hour, celsius in zip(table.lat, hours, table.t2m_c, strict=True)}
    task = small(network, part="test").batch(0)
    x, y = (side.double() for side in task.as_sequence())
    lat = (x[..., 0] + 1) / 2 * 80 - 20
    expected = [known[round(a), b] for a, b in zip(lat.flatten().tolist(), x[..., 3].flatten().tolist(), strict=True)]
    np.testing.assert_allclose(scaling.to_celsius(y.flatten().numpy()), expected, atol=1e-4)


def test_scaling_comes_from_the_training_days_only(network: StationFile) -> None:
    table = pd.read_parquet(network.path)
    train = table[table.time_utc < "2015-03-21"]
    scaling = training_scaling(network)
    assert scaling.celsius_mean == pytest.approx(train.t2m_c.mean(), abs=1e-5)
    assert scaling.celsius_std == pytest.approx(train.t2m_c.std(ddof=0), rel=1e-5)
    assert scaling.elev_mean == pytest.approx(train.elev_m.mean()) and scaling.elev_std == pytest.approx(
        train.elev_m.std(ddof=0)
    )
    assert table.t2m_c.mean() > scaling.celsius_mean + 5


def test_the_region_is_scaled_to_the_unit_box(network: StationFile) -> None:
    corners = np.array([[-20.0, -10.0, 0.0], [60.0, 52.0, 0.0]])
    assert training_scaling(network).inputs(corners, np.array([7, 8]))[:, [0, 1, 3]].tolist() == [
        [-1, -1, 7],
        [1, 1, 8],
    ]


def test_another_models_scaling_can_be_used(network: StationFile) -> None:
    other = StationScaling(region=network.region, elev_mean=0.0, elev_std=1.0, celsius_mean=0.0, celsius_std=1.0)
    ours, plain = small(network).batch(2), small(network, scaling=other).batch(2)
    scaling = training_scaling(network)
    torch.testing.assert_close(plain.yc, ours.yc * scaling.celsius_std + scaling.celsius_mean)
    assert torch.equal(plain.xc[..., 3], ours.xc[..., 3])


def uneven(folder: Path) -> StationFile:
    """90 stations on the first two days, 10 on two later ones."""
    days = [("2015-03-01", 90), ("2015-03-02", 90), ("2015-03-11", 10), ("2015-03-12", 10)]
    spare = [("2015-03-20", 2), ("2015-03-30", 2)]
    rows = [
        {
            "station_id": f"{number}",
            "lat": number / 2,
            "lon": 1.0,
            "elev_m": number,
            "time_utc": f"{day} 12:00",
            "t2m_c": number / 3,
        }
        for day, count in days + spare
        for number in range(count)
    ]
    pd.DataFrame(rows).to_csv(folder / "uneven.csv", index=False)
    return StationFile(
        name="uneven",
        path=str(folder / "uneven.csv"),
        train=("2015-03-01", "2015-03-15"),
        validation=("2015-03-16", "2015-03-25"),
        test=("2015-03-26", "2015-03-31"),
    )


def test_starts_are_drawn_in_proportion_to_what_was_observed(tmp_path: Path, own_cache: Path) -> None:
    source = small(
        uneven(tmp_path), goal="forecasting", windows=2, delta=24, context=(1, 1), targets=1, batch_size=3000
    )
    first = (source.batch(0).xc[:, 0, 3] < hours_since_epoch("2015-03-05")).sum()
    assert stats.binomtest(int(first), 3000, 0.9).pvalue > 1e-3


def test_a_batch_shares_its_size_lowered_to_what_its_poorest_task_offers(tmp_path: Path, own_cache: Path) -> None:
    source = small(uneven(tmp_path), windows=2, delta=24, context=(3, 170), targets=10, batch_size=4)
    sizes = {source.batch(step).xc.shape[1] for step in range(200)}
    assert min(sizes) >= 3 and max(sizes) > 100
    # One task in fifteen starts where there are 20 observations: beside 10 targets, 10 contexts are left.
    poor = replace(source, batch_size=600)
    assert {poor.batch(step).xc.shape[1] for step in range(15)} <= set(range(3, 11))


def test_windows_too_poor_for_the_smallest_context_are_never_drawn(tmp_path: Path, own_cache: Path) -> None:
    source = small(uneven(tmp_path), windows=2, delta=24, context=(50, 60), targets=10)
    for step in range(20):
        xc, _ = hours_of(source.batch(step))
        assert xc.shape[1] >= 50 and (xc < hours_since_epoch("2015-03-05")).all()


def test_asking_for_more_than_any_window_holds_says_what_there_is(tmp_path: Path, own_cache: Path) -> None:
    source = small(uneven(tmp_path), windows=2, delta=24, context=(100, 200), targets=100)
    with pytest.raises(DataError, match=r"the fullest hold 180 observations, 90 of them in the last window"):
        source.batch(0)


def test_a_part_shorter_than_the_windows_is_refused(network: StationFile) -> None:
    with pytest.raises(DataError, match="fewer windows if the part is short"):
        small(network, part="test", windows=30).batch(0)


def test_wider_snapshots_hold_the_hours_in_between(network: StationFile) -> None:
    task = small(network, width=6, windows=2, context=(40, 40), batch_size=4).batch(0)
    both = torch.cat(hours_of(task), dim=1)
    assert len((both - both.amin(dim=1, keepdim=True)).unique()) > 8


def test_a_batch_depends_on_seed_and_step_alone_and_survives_pickling(network: StationFile) -> None:
    source = small(network)
    batches = [source.batch(step) for step in (4, 0, 9)]
    again = pickle.loads(pickle.dumps(source))
    open_pack.cache_clear()
    for task, step in zip(batches, (4, 0, 9), strict=True):
        same = again.batch(step)
        assert torch.equal(task.xc, same.xc) and torch.equal(task.yt, same.yt)
    other = replace(source, seed=4).batch(4)
    assert other.xt.shape != batches[0].xt.shape or not torch.equal(other.xt, batches[0].xt)


def test_whole_hours_survive_float32() -> None:
    hours = np.arange(hours_since_epoch("1931-01-01"), hours_since_epoch("2100-01-01"), 997)
    assert (torch.from_numpy(hours.astype(np.float64)).float().numpy() == hours).all()


def test_a_folder_of_hadisd_files_gives_the_papers_tasks(
    tmp_path: Path, own_cache: Path, write_hadisd: Callable[..., None]
) -> None:
    hours = np.concatenate([hours_since_epoch(f"{year}-05-01") + np.arange(240) for year in (2016, 2017, 2018)])
    since_1931 = hours - hours_since_epoch("1931-01-01")
    for number in range(6):
        celsius = 10 + number + np.sin(hours / 24 * 2 * np.pi)
        celsius[:7] = -2e30
        write_hadisd(
            tmp_path / f"station{number}.nc", since_1931, celsius, elevation=50.0 * number, latitude=40 + number
        )
    file = replace(HADISD, path=str(tmp_path))
    assert open_pack(file).dropped == {"flagged by quality control": 42}
    for part, year in zip(PARTS, (2016, 2017, 2018), strict=True):
        task = small(file, part=part, windows=8).batch(0)
        celsius = training_scaling(file).to_celsius(task.yc[..., 0].double().numpy())
        north = ((task.xc[..., 0].double() + 1) / 2 * 80 - 20).numpy()
        daily = np.sin(task.xc[..., 3].double().numpy() / 24 * 2 * np.pi)
        np.testing.assert_allclose(celsius, north - 30 + daily, atol=1e-4)
        start, stop = hours_since_epoch(f"{year}-01-01"), hours_since_epoch(f"{year + 1}-01-01")
        assert start <= task.xc[..., 3].min() and task.xc[..., 3].max() < stop


@pytest.mark.parametrize(
    "settings",
    [{"windows": 1}, {"width": 7}, {"width": 0}, {"targets": 0}, {"context": (0, 5)}, {"goal": "nowcasting"}],
)
def test_contradictory_settings_are_refused(settings: dict) -> None:
    with pytest.raises(ConfigError):
        StationTasks(**settings)


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        open_pack.cache_clear()
        yield
    open_pack.cache_clear()


@pytest.mark.parametrize("file", [SYNOP_FRANCE, GSOD_ECAD, GSOD_CITIES], ids=lambda file: file.name)
def test_the_real_files_support_both_tasks_in_every_part(file: StationFile, shared_cache: None) -> None:
    if why := files.why_missing(file.path):
        pytest.skip(why)
    for part in PARTS:
        start, stop = file.span(part)
        for goal in ("interpolation", "forecasting"):
            source = station_tasks(file.name, part, goal=goal, batch_size=4)
            task = source.batch(0)
            xc, xt = hours_of(task)
            assert task.xt.shape == (4, file.targets, 4) and file.context[0] <= task.xc.shape[1] <= file.context[1]
            assert torch.isfinite(task.xc).all() and task.yc.abs().max() < 8
            assert start <= min(xc.min(), xt.min()) and max(xc.max(), xt.max()) < stop
            assert (xc.diff(dim=1) >= 0).all()


def test_places_under_both_archives_are_merged(shared_cache: None) -> None:
    if why := files.why_missing(GSOD_ECAD.path):
        pytest.skip(why)
    pack = open_pack(GSOD_ECAD)
    lat, lon = pack.places[:, 0], pack.places[:, 1]
    near = (np.abs(lat[:, None] - lat) < 0.01) & (np.abs(lon[:, None] - lon) < 0.01)
    assert near.sum() == len(pack.stations), "each station is near itself only"
    assert pack.dropped["station at the place of another"] > 0
