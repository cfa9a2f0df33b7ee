from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from inctnp.errors import DataError
from inctnp.generators import station_pack
from inctnp.generators.station_files import StationFile, hours_since_epoch
from inctnp.generators.station_pack import fingerprint, open_pack


def rows_of(file: StationFile) -> pd.DataFrame:
    return pd.read_parquet(file.path)


def test_a_pack_holds_every_row_in_order_of_time(network: StationFile) -> None:
    pack, table = open_pack(network), rows_of(network)
    assert (np.diff(pack.hours) >= 0).all() and len(pack.hours) == len(table)
    hours = hours_since_epoch("2015-03-01") + (table.time_utc - pd.Timestamp("2015-03-01")) // pd.Timedelta("1h")
    expected = set(zip(hours, table.station_id, table.t2m_c.astype(np.float32), strict=True))
    names = np.array(pack.stations)[pack.station]
    assert set(zip(pack.hours.tolist(), names, pack.celsius, strict=True)) == expected


def test_positions_of_hours_agree_with_counting(network: StationFile) -> None:
    pack = open_pack(network)
    asked = hours_since_epoch("2015-03-01") + np.arange(-30, 900, 7)
    np.testing.assert_array_equal(pack.before(asked), [(pack.hours < hour).sum() for hour in asked])


def test_rows_outside_every_part_are_left_out_and_counted(network: StationFile) -> None:
    pack = open_pack(replace(network, test=("2015-03-26", "2015-03-29")))
    assert pack.dropped == {"outside every part": 6 * 24}
    assert pack.hours.max() == hours_since_epoch("2015-03-30") - 1


def test_a_pack_is_built_once(network: StationFile, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_pack(network)
    open_pack.cache_clear()
    monkeypatch.setattr(station_pack, "_build", lambda *_: pytest.fail("built again"))
    again = open_pack(network)
    np.testing.assert_array_equal(first.celsius, again.celsius)
    assert first.stations == again.stations


def test_a_changed_source_is_packed_again_and_the_old_pack_removed(network: StationFile, own_cache: Path) -> None:
    open_pack(network)
    before = set((own_cache / "inctnp" / "data" / "packs").iterdir())
    rows_of(network).assign(t2m_c=1.5).to_parquet(network.path)
    open_pack.cache_clear()
    assert (open_pack(network).celsius == 1.5).all()
    after = set((own_cache / "inctnp" / "data" / "packs").iterdir())
    assert len(before) == len(after) == 1 and before != after


def test_settings_that_decide_the_content_are_in_its_name(network: StationFile) -> None:
    variants = [
        network,
        replace(network, same_place=0.5),
        replace(network, region=replace(network.region, north=44.0)),
        replace(network, test=("2015-03-26", "2015-03-29")),
    ]
    assert len({fingerprint(file) for file in variants}) == 4
    assert fingerprint(replace(network, windows=3, context=(1, 2))) == fingerprint(network)


def test_a_pack_that_fails_leaves_nothing_behind(network: StationFile, own_cache: Path) -> None:
    rows_of(network).assign(t2m_c=np.nan).to_parquet(network.path)
    with pytest.raises(DataError, match=r"no usable observation.*'no temperature': 4320"):
        open_pack(network)
    assert not list((own_cache / "inctnp" / "data" / "packs").iterdir())


def test_a_pack_half_written_by_another_process_is_not_read(network: StationFile, own_cache: Path) -> None:
    folder = own_cache / "inctnp" / "data" / "packs" / f"network-{fingerprint(network)}.999.part"
    folder.mkdir(parents=True)
    assert len(open_pack(network).hours) == 4320 and folder.is_dir()
