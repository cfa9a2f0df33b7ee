"""`inctnp predict` and `inctnp inspect`: asking a saved state, which stays as it is."""

import json
from pathlib import Path

import pytest
import torch

from inctnp.regressor import StreamingRegressor
from tests.console.conftest import Table, Typed, records
from tests.regressor.conftest import make_stream


@pytest.fixture
def state(stream: Typed, table: Table, tmp_path: Path) -> Path:
    """After 30 rows."""
    table(30)
    assert stream("table.csv", "--state", "s.safetensors").exit_code == 0
    return tmp_path / "s.safetensors"


def test_rows_are_predicted_as_if_each_came_next(typed: Typed, state: Path, tmp_path: Path, toy: str) -> None:
    rows, y = make_stream(100)
    asked = [{**row, "at": row["at"].isoformat()} for row in rows[30:]]
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    before = state.read_bytes()
    result = typed("predict", "asked.jsonl", "--state", "s.safetensors", "--interval", "0.5")
    assert result.exit_code == 0, result.output
    told = records(result.stdout)
    regressor = StreamingRegressor(toy)
    regressor.learn(rows[:30], y[:30])
    p = regressor.predict(rows[30:])
    low, high = p.interval(0.5)
    for name, values in (("mean", p.mean), ("std", p.stddev), ("lower", low), ("upper", high)):
        assert [record[name] for record in told] == pytest.approx(values.flatten().tolist(), rel=1e-6)
    assert [record["row"] for record in told] == list(range(1, 71))
    assert all(record["y"] is None and record["log_score"] is None for record in told)
    assert state.read_bytes() == before


def test_outcomes_that_are_there_are_scored(typed: Typed, state: Path, tmp_path: Path) -> None:
    (tmp_path / "asked.csv").write_text("speed,y\n50,110\n51,\n")
    typed("predict", "asked.csv", "--state", "s.safetensors", "--out", "p.jsonl")
    first, second = records((tmp_path / "p.jsonl").read_text())
    predictive = StreamingRegressor.load(state).predict([{"speed": 50.0}])
    expected = predictive.log_prob(torch.tensor([[110.0]], dtype=torch.float64)).item()
    assert first["log_score"] == pytest.approx(expected, rel=1e-6)
    assert second["log_score"] is None


def test_the_standard_input_is_answered_row_by_row(typed: Typed, state: Path) -> None:
    result = typed("predict", "-", "--state", str(state), stdin="speed,line\n50,A\n40,B\n")
    assert [record["row"] for record in records(result.stdout)] == [1, 2]


@pytest.mark.parametrize(
    ("content", "words", "told"),
    [
        ("a\n1\n", [], "this table has none of them"),
        ("speed\n", [], "no rows"),
        ("speed\n1\n", ["--interval", "1"], "between 0 and 1"),
        ("speed\n1\n", ["--out", "p.xlsx"], ".parquet"),
        ("speed,line\n1\n", [], "Line 2"),
    ],
)
def test_mistakes_are_told(
    typed: Typed, state: Path, tmp_path: Path, content: str, words: list[str], told: str
) -> None:
    (tmp_path / "asked.csv").write_text(content)
    result = typed("predict", "asked.csv", "--state", str(state), *words)
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_state_that_is_not_there_is_told_with_what_makes_it(typed: Typed) -> None:
    for words in (["predict", "-", "--state", "none"], ["inspect", "none"]):
        result = typed(*words)
        assert result.exit_code == 2
        assert "inctnp stream FILE --target COLUMN --state none" in result.stderr


def test_a_state_tells_of_its_rows_scores_columns_and_settings(typed: Typed, state: Path, toy: str) -> None:
    told = json.loads(typed("inspect", str(state), "--json").stdout)
    assert told["rows"]["learned"] == told["rows"]["held"] == told["scores"]["rows"] == 30
    assert told["columns"] == {"speed": "number", "line": "text", "at": "moment", "on": "number"}
    assert told["choices"]["target"] == "y"
    assert told["stream"]["last source"].endswith("table.csv")
    assert told["settings"]["model"] == toy
    text = typed("inspect", str(state)).stdout
    assert "coverage" in text and "speed" in text and "learned" in text
