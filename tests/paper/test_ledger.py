from pathlib import Path

import pytest

from inctnp.errors import StateError
from inctnp.paper.ledger import Ledger

FIRST, SECOND = {"key": "a", "values": {"ll": 1.5}}, {"key": "b", "values": {"ll": [1.0, 2.0]}}


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "deep" / "rows.jsonl")
    assert ledger.read() == {}
    ledger.append(FIRST)
    ledger.append(SECOND)
    assert ledger.read() == {"a": FIRST, "b": SECOND}


@pytest.mark.parametrize("cut", range(1, 30, 4))
def test_a_line_that_was_cut_short_is_forgotten_and_not_built_upon(cut: int, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "rows.jsonl")
    ledger.append(FIRST)
    ledger.append(SECOND)
    ledger.path.write_bytes(ledger.path.read_bytes()[:-cut])
    assert ledger.read() == {"a": FIRST}
    ledger.append(SECOND)
    assert ledger.read() == {"a": FIRST, "b": SECOND}


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "rows.jsonl")
    ledger.append(FIRST)
    with ledger.path.open("a") as file:
        file.write("{'not': json}\n")
    with pytest.raises(StateError, match=r"Line 2 of .*rows\.jsonl"):
        ledger.read()


def test_only_what_is_asked_for_is_kept(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "rows.jsonl")
    for row in (FIRST, SECOND):
        ledger.append(row)
    assert ledger.keep({"b"}) == 1
    assert ledger.read() == {"b": SECOND}
    assert ledger.keep({"b"}) == 0


def test_not_a_number_is_refused_before_the_file_is_touched(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "rows.jsonl")
    with pytest.raises(ValueError, match="JSON"):
        ledger.append({"key": "a", "values": {"ll": float("nan")}})
    assert not ledger.path.exists()
