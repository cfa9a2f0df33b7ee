"""The benchmarks run, compare what they say they compare, and the rival implementation answers the same."""

from io import StringIO

import pytest
import torch
from benchmarks import generators, streaming
from benchmarks.copying import CopyingIncTNP
from benchmarks.timing import Timing, interleaved
from rich.console import Console

from inctnp import ModelConfig, build
from inctnp.generators.gp import GPTasks
from inctnp.testing.checks import assert_same
from inctnp.testing.toy import toy_model, toy_points


def test_every_piece_of_work_is_measured_against_every_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "JOINT_AT", 6)
    model = build(ModelConfig(name="inctnp-seq", dim_x=streaming.FEATURES, width=16, heads=2, layers=1)).eval()
    with torch.inference_mode():
        rows = list(streaming.measure(model, (6, 9), repeats=2))
    seen = {(row["work"], row["rows"], row["variant"]) for row in rows}
    for size, works in ((6, ("50 joint draws of 50", "joint density of 128")), (9, ())):
        for work in ("update, 1 row", "query, 1 target", "query, 250 targets", *works):
            assert {variant for what, at, variant in seen if (what, at) == (work, size)} >= {"ours", "again", "copy"}
    assert all(row["low"] <= row["median"] <= row["high"] for row in rows if "median" in row)
    console = Console(width=130, file=StringIO())
    console.print(*streaming.tables(rows))
    assert console.file.getvalue().count("joint density of 128") == 2  # its time and its memory


@torch.no_grad()
def test_the_copying_cache_answers_what_the_library_answers() -> None:
    model = toy_model("inctnp")
    x, y = toy_points(model, 9, batch=(1,))
    xt, yt = toy_points(model, 4, seed=1, batch=(1,))
    copying = CopyingIncTNP(model)
    copied = copying.extend(copying.extend(None, x[:, :8], y[:, :8]), x[:, 8:], y[:, 8:])
    context = model.extend(model.empty(1), x, y)
    assert_same(copying.query(copied, xt), model.query(context, xt), "a copying cache")
    torch.testing.assert_close(copying.joint_log_prob(copied, xt, yt), model.joint_log_prob(context, xt, yt))
    assert copying.sample(copied, xt, 3).shape == (3, 4, 1)


def test_timings_are_of_the_work_and_memory_is_what_it_took() -> None:
    made = interleaved({"much": lambda: torch.ones(50_000_000, dtype=torch.uint8), "nothing": lambda: None}, 3)
    assert made["much"].median > made["nothing"].median
    if made["much"].peak is not None:
        assert 45e6 < made["much"].peak < 80e6 and made["nothing"].peak < 5e6
    assert Timing(1.0, 0.5, 2.0, 7).times(3) == Timing(3.0, 1.5, 6.0, 7)


def test_every_source_of_tasks_has_a_line() -> None:
    names = " ".join(generators.sources())
    for source in ("gp rbf", "gp mixed", "shift", "tabular prior", "protein", "hadisd", "gsod-cities", "forecasting"):
        assert source in names
    result = generators.measure("gp", GPTasks(batch_size=2, context=(3, 3), targets=4), seconds=0.01)
    assert result.batches >= 5 and result.quartiles_ms[0] <= result.median_ms <= result.quartiles_ms[1]
    assert "gp" in generators.line(result)
