import pytest

from inctnp.generators.files import why_missing
from inctnp.generators.station_files import station_file
from inctnp.quality.streams import FIELDS, RIVER, SERIES, SOURCES, source


@pytest.mark.parametrize("name", RIVER)
def test_rivers_streams_have_named_columns_and_numbers_to_predict(name: str) -> None:
    rows = source(name).rows(1000)
    assert len(rows) >= 144 and all(isinstance(y, float) for _, y in rows)
    assert len({frozenset(row) for row, _ in rows}) == 1


@pytest.mark.parametrize("name", [*SERIES, *FIELDS])
def test_stations_are_shown_on_days_kept_for_tests_in_the_order_of_time(name: str) -> None:
    file = station_file(name)
    if missing := why_missing(file.path):
        pytest.skip(missing)
    rows = SOURCES[name].rows(300)
    times = [row["time"] for row, _ in rows]
    assert times == sorted(times) and f"{times[0]:%Y-%m-%d}" >= file.test[0] and f"{times[-1]:%Y-%m-%d}" <= file.test[1]
    if name in SERIES:
        assert len(set(times)) == len(times)


def test_tables_come_in_the_order_of_their_files() -> None:
    if missing := why_missing("uci/CCPP_Folds5x2_pp_sheet1.csv.gz"):
        pytest.skip(missing)
    (first, y), *_ = SOURCES["powerplant"].rows(2)
    assert (first["AT"], first["V"], y) == (14.96, 41.76, 463.26)
