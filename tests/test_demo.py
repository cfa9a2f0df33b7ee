"""`inctnp demo`: real streams beside River's best, and drawn functions beside the exact posterior."""

import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from inctnp.cli import app
from inctnp.demo import functions, streams
from inctnp.quality.rivals import RIVALS
from inctnp.regressor import StreamingRegressor
from inctnp.report import Journal
from inctnp.report.journal import SCORE, SQUARED

pytest.importorskip("river")


def test_the_shipped_model_streams_beside_rivers_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LIMIT", 30)
    result = CliRunner().invoke(app, ["demo", "--report", str(tmp_path / "r.html")])
    assert result.exit_code == 0, result.output
    for name in streams.STREAMS:
        assert name in result.output
    assert result.output.count("River: ") == len(streams.STREAMS)
    page = (tmp_path / "r.html").read_text()
    assert "30 rows were predicted" in page
    assert "beside" in page


def test_its_figures_are_those_of_the_regressor_asked_row_by_row() -> None:
    shown = streams.demonstrate("chicks", "tabular", lambda text: None, limit=40)
    from river.datasets import ChickWeights

    examples = [(x, float(y)) for x, y in ChickWeights()][:40]
    regressor, scores, squared = StreamingRegressor("tabular"), [], []
    unit = float(np.std([y for _, y in examples]))
    for row, y in examples:
        p = regressor.step(row, y)
        scores.append(p.log_prob(p.mean.new_tensor([[y]])).item())
        squared.append((p.mean.item() - y) ** 2)
    assert shown.ours.rows == 30
    assert shown.ours.log_score == pytest.approx(float(np.mean(scores[10:])) + math.log(unit), rel=1e-6)
    assert shown.journal.rows == 40
    assert shown.journal.total(SCORE) == pytest.approx(float(np.mean(scores)), rel=1e-6)
    assert shown.journal.total(SQUARED) == pytest.approx(float(np.mean(squared)), rel=1e-6)


def test_the_rival_shown_is_the_best_of_rivers_candidates() -> None:
    shown = streams.demonstrate("approval", "tabular", lambda text: None, limit=40)
    assert all(RIVALS[name][0].startswith("River ") for name in streams.CANDIDATES)
    from inctnp.quality.prequential import measure
    from inctnp.quality.streams import source

    examples, lags = source("approval").rows(40), source("approval").lags
    scores = {name: measure(RIVALS[name][1](lags, 40, 0), examples).log_score for name in streams.CANDIDATES}
    assert shown.rival == f"River: {max(scores, key=lambda name: scores[name])}"
    assert shown.theirs.log_score == pytest.approx(max(scores.values()))


def test_watching_changes_nothing() -> None:
    from inctnp.quality.prequential import measure
    from inctnp.quality.streams import source

    examples, lags = source("water").rows(40), source("water").lags
    plain, watched = (RIVALS["linear"][1](lags, 40, 0) for _ in range(2))
    journal = Journal()
    seen = measure(streams.Watched(watched, journal), examples)
    expected = measure(plain, examples)
    assert (seen.log_score, seen.crps, seen.rmse) == (expected.log_score, expected.crps, expected.rmse)
    assert journal.rows == 40


def test_functions_are_drawn_beside_the_exact_posterior(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "STREAMS", 4)
    result = CliRunner().invoke(app, ["demo", "--functions", "--picture", str(tmp_path / "p.png")])
    assert result.exit_code == 0, result.output
    assert "best possible" in result.output
    assert (tmp_path / "p.png").stat().st_size > 10_000
