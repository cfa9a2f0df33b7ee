import math

import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from inctnp.errors import ConfigError, DataError, ShapeError
from inctnp.models.base import NeuralProcess
from inctnp.predictive.base import Predictive
from inctnp.regressor import StreamingRegressor
from tests.regressor.conftest import make_stream

ROWS, Y = make_stream(420)


def apart(one: Predictive, other: Predictive) -> float:
    return max((one.mean - other.mean).abs().max().item(), (one.stddev - other.stddev).abs().max().item())


@given(cuts=st.lists(st.integers(1, 120), min_size=2, max_size=3))
@settings(max_examples=2, deadline=None, phases=(Phase.explicit, Phase.generate))
def test_how_rows_are_cut_into_chunks_does_not_matter(cuts: list[int], model: NeuralProcess) -> None:
    rows = min(sum(cuts), len(ROWS))
    one, other = (StreamingRegressor(model, max_points=128) for _ in range(2))
    start = 0
    for cut in cuts:
        one.learn(ROWS[start : start + cut], Y[start : start + cut])
        start = min(start + cut, len(ROWS))
    for row, y in zip(ROWS[:rows], Y[:rows], strict=True):
        other.step(row, y)
    assert len(one) == len(other) == rows and one.held == other.held <= 128
    assert apart(one.predict(ROWS[:3]), other.predict(ROWS[:3])) < 1e-7
    assert one.monitor.scores.log_score == pytest.approx(other.monitor.scores.log_score, abs=1e-8)


def test_predicting_works_before_the_first_row_and_changes_nothing(model: NeuralProcess) -> None:
    r = StreamingRegressor(model)
    first = r.predict(ROWS[:2])
    assert first.mean.shape == (2, 1) and first.mean.dtype == torch.float64
    assert torch.isfinite(first.log_prob(torch.tensor([[1e4], [-3.0]]))).all()
    assert len(r) == 0 and r.columns.names == [] and apart(first, r.predict(ROWS[:2])) == 0


def test_a_step_answers_what_was_predicted_before_it(model: NeuralProcess) -> None:
    r = StreamingRegressor(model)
    r.learn(ROWS[:30], Y[:30])
    before = r.predict([ROWS[30]])
    assert apart(r.step(ROWS[30], Y[30]), before) == 0
    assert r.monitor.last is not None
    assert r.monitor.last.log_score == pytest.approx(
        before.log_prob(torch.tensor([[Y[30]]], dtype=torch.float64)).item()
    )


def test_the_order_of_columns_does_not_matter(model: NeuralProcess) -> None:
    one, other = StreamingRegressor(model), StreamingRegressor(model)
    one.learn(ROWS[:150], Y[:150])
    other.learn([dict(reversed(row.items())) for row in ROWS[:150]], Y[:150])
    assert apart(one.predict(ROWS[150:160]), other.predict(ROWS[150:160])) < 1e-7


def test_forks_share_the_past_and_nothing_else(model: NeuralProcess) -> None:
    r = StreamingRegressor(model)
    r.learn(ROWS[:40], Y[:40])
    fork, before = r.fork(), r.predict(ROWS[:2])
    fork.learn(ROWS[40:80], Y[40:80])
    assert apart(before, r.predict(ROWS[:2])) == 0 and (len(r), len(fork)) == (40, 80)
    r.learn(ROWS[40:80], Y[40:80])
    assert apart(fork.predict(ROWS[:2]), r.predict(ROWS[:2])) == 0


def test_outcomes_may_come_late_and_out_of_order(model: NeuralProcess) -> None:
    r = StreamingRegressor(model)
    r.learn(ROWS[:20], Y[:20])
    early, late = r.ask(ROWS[20]), r.ask(ROWS[21])
    expected = r.predict([ROWS[20]])
    r.tell(late, Y[21])
    assert apart(r.asked(early), expected) == 0 and len(r) == 21
    r.tell(early, Y[20])
    assert len(r) == 22
    with pytest.raises(DataError, match="no open question"):
        r.tell(early, 0.0)


def test_the_joint_density_is_that_of_one_step_after_the_other(model: NeuralProcess) -> None:
    r = StreamingRegressor(model)
    r.learn(ROWS[:50], Y[:50])
    fork = r.fork()
    one_by_one = sum(
        fork.step(row, y).log_prob(torch.tensor([[y]])).item() for row, y in zip(ROWS[50:54], Y[50:54], strict=True)
    )
    assert r.log_prob(ROWS[50:54], Y[50:54]) == pytest.approx(one_by_one)
    assert len(r) == 50


def test_joint_draws_follow_from_one_another(model: NeuralProcess) -> None:
    r = StreamingRegressor(model)
    r.learn(ROWS[:50], Y[:50])
    joint = r.sample(ROWS[50:53], 4, generator=torch.Generator().manual_seed(0))
    assert joint.draws.shape == (4, 3, 1) and joint.mean.shape == (3, 1)
    fork = r.fork()
    fork.step(ROWS[50], joint.draws[0, 0, 0].item())
    again = fork.predict([ROWS[51]])
    alone = r.sample(ROWS[50:52], 1, generator=torch.Generator().manual_seed(0))
    assert alone.mean[1, 0].item() == pytest.approx(again.mean.item())


@pytest.mark.parametrize("bad", [math.nan, math.inf, "high", None])
def test_an_outcome_that_is_no_number_is_refused_and_nothing_is_learned(bad: object, model: NeuralProcess) -> None:
    r = StreamingRegressor(model)
    r.learn(ROWS[:3], Y[:3])
    with pytest.raises(DataError, match=r"numbers|finite"):
        r.learn([*ROWS[3:5], {"new": 1.0}], [*Y[3:5], bad])  # type: ignore[list-item]
    assert len(r) == 3 and "new" not in r.columns.names


def test_rows_and_outcomes_have_to_match(model: NeuralProcess) -> None:
    r = StreamingRegressor(model)
    with pytest.raises(ShapeError, match="one for each"):
        r.learn(ROWS[:3], Y[:2])
    for wrong in ([[1.0, 2.0]], {"speed": 1.0}):
        with pytest.raises(DataError, match="mapping"):
            r.predict(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("y", [[5.0] * 40, [0.0] * 40, list(np.random.default_rng(0).standard_cauchy(40) * 1e6)])
def test_outcomes_of_any_kind_get_finite_predictions(y: list[float], model: NeuralProcess) -> None:
    r = StreamingRegressor(model)
    r.learn(ROWS[:40], y)
    p = r.predict(ROWS[:5])
    assert torch.isfinite(p.mean).all() and (p.stddev > 0).all()
    assert math.isfinite(r.monitor.scores.log_score)


@pytest.mark.parametrize(("columns", "views"), [(1, ("direct",)), (40, ("direct", "residual"))])
def test_bytes_stay_below_their_limit(columns: int, views: tuple[str, ...], model: NeuralProcess) -> None:
    rng, limit = np.random.default_rng(0), 2_000_000
    r = StreamingRegressor(model, max_points=None, max_bytes=limit, views=views)
    for _ in range(12):
        table = rng.normal(size=(60, columns)).tolist()
        r.learn([{f"x{j}": value for j, value in enumerate(row)} for row in table], rng.normal(size=60))
        assert r.nbytes <= limit
    assert 64 <= r.held < len(r) or r.nbytes < limit / 2


def test_a_limit_that_holds_next_to_nothing_is_refused(model: NeuralProcess) -> None:
    with pytest.raises(ConfigError, match="bytes each"):
        StreamingRegressor(model, max_bytes=1000)


def test_without_limits_every_row_is_held(model: NeuralProcess) -> None:
    r = StreamingRegressor(model, max_points=None)
    r.learn(ROWS, Y)
    assert r.held == len(r) == len(ROWS)
