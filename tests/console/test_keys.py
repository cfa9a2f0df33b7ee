"""`inctnp stream --key`: one stream for each name, and none knows of another."""

import csv
import json
from collections import defaultdict
from pathlib import Path

import pytest

from inctnp.console import opening
from inctnp.regressor import StreamingBank
from tests.console.conftest import Typed, records
from tests.regressor.conftest import make_stream

NAMES = ("north", "007", "7")


@pytest.fixture
def keyed(tmp_path: Path) -> Path:
    """Three streams of 12 rows each, taking turns."""
    path = tmp_path / "keyed.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pump", "speed", "y"])
        for i, (row, y) in enumerate(zip(*make_stream(36), strict=True)):
            writer.writerow([NAMES[i % 3], row["speed"] or "", repr(y)])
    return path


def without(record: dict[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in record.items() if name not in names}


def test_every_key_has_the_records_of_a_stream_of_its_own(stream: Typed, keyed: Path, tmp_path: Path) -> None:
    together = defaultdict(list)
    for record in records(stream("keyed.csv", "--key", "pump").stdout):
        assert list(record)[-1] == "key"
        together[record["key"]].append(without(record, "row", "key"))
    assert list(together) == list(NAMES)
    lines = keyed.read_text().splitlines(keepends=True)
    for name in NAMES:
        alone = [lines[0], *(line for line in lines if line.startswith(f"{name},"))]
        (tmp_path / "alone.csv").write_text("".join(alone))
        told = records(stream("alone.csv", "--drop", "pump").stdout)
        assert together[name] == [without(record, "row") for record in told]


def test_streams_that_wait_in_files_predict_the_same(
    stream: Typed, keyed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = stream("keyed.csv", "--key", "pump").stdout
    banks = []

    def tight(**settings: object) -> StreamingBank:
        banks.append(StreamingBank(open_bytes=1, **settings))  # type: ignore[arg-type]
        return banks[-1]

    monkeypatch.setattr(opening, "StreamingBank", tight)
    assert stream("keyed.csv", "--key", "pump").stdout == expected
    assert banks[0].open == 1 and len(banks[0]) == 3


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_many_streams_are_saved_and_gone_on_from(stream: Typed, keyed: Path, tmp_path: Path, ending: str) -> None:
    words = ["--key", "pump", "--delay", "2"]
    whole, parts = tmp_path / f"whole.{ending}", tmp_path / f"parts.{ending}"
    stream("keyed.csv", *words, "--out", str(whole))
    lines = keyed.read_text().splitlines(keepends=True)
    for rows in (20, 37):
        (tmp_path / "grown.csv").write_text("".join(lines[:rows]))
        result = stream("grown.csv", *words, "--out", str(parts), "--state", "s")
        assert result.exit_code == 0, result.output
    if ending == "parquet":
        pq = pytest.importorskip("pyarrow.parquet")
        assert pq.read_table(parts).equals(pq.read_table(whole))
    else:
        assert parts.read_bytes() == whole.read_bytes()


def test_a_delay_counts_the_rows_of_each_stream(stream: Typed, keyed: Path, tmp_path: Path) -> None:
    told = [record for record in records(stream("keyed.csv", "--key", "pump", "--delay", "2").stdout)]
    lines = keyed.read_text().splitlines(keepends=True)
    (tmp_path / "alone.csv").write_text("".join([lines[0], *(line for line in lines if line.startswith("007,"))]))
    alone = records(stream("alone.csv", "--drop", "pump", "--delay", "2").stdout)
    assert [r["mean"] for r in told if r["key"] == "007"] == [r["mean"] for r in alone]


def test_a_state_of_many_streams_answers_by_key_and_describes_each(
    stream: Typed, typed: Typed, keyed: Path, tmp_path: Path
) -> None:
    stream("keyed.csv", "--key", "pump", "--state", "s", "--out", "p.jsonl")
    before = (tmp_path / "s").read_bytes()
    (tmp_path / "asked.csv").write_text("pump,speed\nnorth,50\n7,50\nunheard,50\n")
    told = records(typed("predict", "asked.csv", "--state", "s").stdout)
    assert [record["key"] for record in told] == ["north", "7", "unheard"]
    assert len({record["mean"] for record in told}) == 3
    assert told[2]["std"] > told[0]["std"]
    assert (tmp_path / "s").read_bytes() == before
    found = json.loads(typed("inspect", "s", "--json").stdout)
    assert found["rows"] == {"learned": 36, "streams": 3}
    assert all(found[f"scores of {name!r}"]["rows"] == 12 for name in NAMES)


@pytest.mark.parametrize(
    ("content", "words", "told"),
    [
        ("pump,y\na,1\n,2\n", [], "Line 3 has no 'pump'"),
        ("pmp,y\na,1\n", [], "did you mean 'pmp'"),
        ("pump,y\na,1\n", ["--state", "s"], "key 'pump', this call says 'zone'"),
    ],
)
def test_mistakes_with_keys_are_told(stream: Typed, tmp_path: Path, content: str, words: list[str], told: str) -> None:
    (tmp_path / "a.csv").write_text(content)
    if words:
        stream("a.csv", "--key", "pump", *words)
        (tmp_path / "a.csv").write_text(content.replace("pump", "zone"))
    result = stream("a.csv", "--key", "zone" if words else "pump", *words)
    assert result.exit_code == 2
    assert told in result.stderr
