"""A stream: what it accepts, what it refuses, and that refusing or predicting changes nothing."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import inctnp
from inctnp.errors import (
    ConfigError,
    DataError,
    DtypeError,
    EmptyContextError,
    IncTNPError,
    RollbackError,
    ShapeError,
    UnknownNameError,
)
from inctnp.streaming.recompute import query_from_scratch
from inctnp.testing.checks import assert_close, assert_same
from inctnp.testing.toy import toy_model, toy_points

MODEL = toy_model("inctnp-prior")
X, Y = toy_points(MODEL, 400)
XT, YT = toy_points(MODEL, 3, seed=1)


def stream_of(rows: int, model: Any = MODEL, **settings: Any) -> inctnp.Stream:
    stream = model.stream(**settings)
    stream.observe(X[:rows], Y[:rows])
    return stream


class Owners(RuleBasedStateMachine):
    """Streams that fork, observe, roll back, save and ask in any order, each beside a list of its row numbers."""

    batch: tuple[int, ...] = (2,)

    @initialize()
    def start(self) -> None:
        self.x, self.y = toy_points(MODEL, 600, batch=self.batch)
        self.xt, _ = toy_points(MODEL, 2, seed=1, batch=self.batch)
        self.owners: list[tuple[inctnp.Stream, list[int]]] = [(MODEL.stream(batch=self.batch), [])]
        self.used = 0

    @rule(who=st.integers(0, 99), count=st.sampled_from([1, 1, 1, 2, 7, 63, 64, 65, 130]))
    def observe(self, who: int, count: int) -> None:
        stream, rows = self.owners[who % len(self.owners)]
        new = [n % 600 for n in range(self.used, self.used + count)]
        self.used += count
        stream.observe(self.x[:, new], self.y[:, new])
        rows += new

    @precondition(lambda self: len(self.owners) < 5)
    @rule(who=st.integers(0, 99))
    def fork(self, who: int) -> None:
        stream, rows = self.owners[who % len(self.owners)]
        self.owners.append((stream.fork(), list(rows)))

    @rule(who=st.integers(0, 99), back=st.integers(0, 150))
    def rollback(self, who: int, back: int) -> None:
        stream, rows = self.owners[who % len(self.owners)]
        to = max(0, len(rows) - back)
        stream.rollback(to)
        del rows[to:]

    @rule(who=st.integers(0, 99), draws=st.integers(1, 3))
    def ask(self, who: int, draws: int) -> None:
        stream, _ = self.owners[who % len(self.owners)]
        stream.sample(self.xt, draws)
        stream.log_prob(self.xt, torch.zeros(*self.batch, 2, 1))
        stream.predict(self.xt)

    def teardown(self) -> None:
        for stream, rows in getattr(self, "owners", []):
            assert len(stream) == len(rows)
            alone = query_from_scratch(MODEL, self.x[:, rows], self.y[:, rows], self.xt)
            assert_same(stream.predict(self.xt), alone, f"one of {len(self.owners)} owners, {len(rows)} rows")


TestOwners = Owners.TestCase
TestOwners.settings = settings(max_examples=12, stateful_step_count=12, deadline=None)


def test_forks_of_a_long_past_stay_apart_row_by_row() -> None:
    trunk = stream_of(200)
    branches = [trunk.fork() for _ in range(3)]
    for i in range(70):
        for number, branch in enumerate(branches):
            branch.observe(X[(200 + i * 3 + number) % 400], Y[i])
    for number, branch in enumerate(branches):
        own = [(200 + i * 3 + number) % 400 for i in range(70)]
        x, y = torch.cat([X[:200], X[own]]), torch.cat([Y[:200], Y[:70]])
        assert_same(branch.predict(XT), query_from_scratch(MODEL, x, y, XT), f"branch {number}")
    assert_same(trunk.predict(XT), query_from_scratch(MODEL, X[:200], Y[:200], XT), "the trunk")


@pytest.mark.parametrize("name", ["tnp-d", "inctnp"])
def test_asking_changes_nothing_to_the_last_bit(name: str) -> None:
    model = toy_model(name)
    asked, quiet = stream_of(58, model), stream_of(58, model)
    for i in range(58, 70):
        asked.sample(XT, 1)
        asked.sample(XT, 2)
        asked.predict(XT[0])
        asked.log_prob(XT, YT)
        for stream in (asked, quiet):
            stream.observe(X[i], Y[i])
    ours, theirs = asked.predict(XT), quiet.predict(XT)
    assert torch.equal(ours.mean, theirs.mean) and torch.equal(ours.stddev, theirs.stddev)
    assert asked.nbytes == pytest.approx(quiet.nbytes, rel=0.7)


def test_one_row_has_no_row_axis_and_many_rows_have() -> None:
    stream = stream_of(3)
    one, many = stream.predict(XT[0]), stream.predict(XT)
    assert one.mean.shape == (1,) and many.mean.shape == (3, 1)
    assert_close(one.mean, many.mean[0], "one row and the first of many")
    assert stream.sample(XT[0], 5).draws.shape == (5, 1) and stream.sample(XT, 5).draws.shape == (5, 3, 1)
    assert stream.log_prob(XT[0], YT[0]).shape == () == stream.log_prob(XT, YT).shape


@pytest.mark.parametrize(
    "given",
    [
        (X[:4].numpy(), Y[:4].numpy()),
        (X[:4].tolist(), Y[:4].flatten().tolist()),
        (X[:4], Y[:4, 0]),
        (np.asfortranarray(X[:4].numpy()), Y[:4, 0].numpy()),
        (X[:4].flip(0).numpy()[::-1], Y[:4].flip(0).numpy()[::-1]),
        (np.broadcast_to(X[:4].numpy(), (4, 2)), np.broadcast_to(Y[:4].numpy(), (4, 1))),
    ],
    ids=["arrays", "lists", "flat outcomes", "columns first", "reversed", "read-only"],
)
def test_numbers_come_as_tensors_arrays_or_lists(given: tuple[Any, Any]) -> None:
    stream = MODEL.stream()
    stream.observe(*given)
    assert_same(stream.predict(XT), stream_of(4).predict(XT), "the same rows in another wrapping")


def test_whole_numbers_and_truth_values_are_numbers() -> None:
    stream, other = MODEL.stream(), MODEL.stream()
    stream.observe([1, 0], True)
    other.observe([1.0, 0.0], 1.0)
    assert_same(stream.predict([0, 1]), other.predict([0.0, 1.0]), "integers and floats")


def test_rows_of_a_data_frame_are_numbers_whatever_its_columns_are() -> None:
    """A frame whose columns differ in kind becomes an array of objects."""
    frame = pd.DataFrame({"a": [0.5, 1.5], "b": [True, False], "c": pd.array([3, 4], dtype="Int64"), "y": [1.0, 2.0]})
    assert frame[["a", "b"]].to_numpy().dtype == object == frame[["a", "c"]].to_numpy().dtype
    for columns in (["a", "b"], ["a", "c"], ["c", "b"]):
        stream, plain = MODEL.stream(), MODEL.stream()
        stream.observe(frame[columns], frame["y"])
        stream.observe(frame[columns].iloc[0], frame["y"].iloc[0])
        stream.observe(frame.loc[[1], columns], frame.loc[[1], ["y"]])
        numbers = frame[columns].astype(float).to_numpy()[[0, 1, 0, 1]]
        plain.observe(numbers, [1.0, 2.0, 1.0, 2.0])
        assert_same(stream.predict(XT), plain.predict(XT), f"columns {columns}")


def test_the_given_arrays_may_change_afterwards() -> None:
    for settings_ in ({"keep_rows": True}, {"policy": "reservoir", "max_points": 8}):
        for name in ("inctnp", "tnp-d"):
            stream, x, y = toy_model(name).stream(**settings_), X[:4].clone(), Y[:4].clone()
            stream.observe(x, y)
            before = stream.predict(XT).mean
            x.zero_()
            y.zero_()
            assert torch.equal(stream.predict(XT).mean, before)


def test_a_batch_of_streams_is_as_many_streams() -> None:
    model = toy_model("inctnp", dim_y=2)
    x, y = toy_points(model, 6, batch=(2, 3))
    together = model.stream(batch=(2, 3))
    together.observe(x, y)
    together.observe(x[..., 0, :], y[..., 0, :])
    for i in range(2):
        for j in range(3):
            alone = model.stream()
            alone.observe(x[i, j], y[i, j])
            alone.observe(x[i, j, 0], y[i, j, 0])
            ours = together.predict(x).reshape(lambda t, i=i, j=j: t[i, j])
            assert_same(ours, alone.predict(x[i, j]), f"stream {i}, {j}")


def test_no_rows_are_a_chunk_too() -> None:
    stream = stream_of(5)
    before = stream.predict(XT).mean
    stream.observe(np.zeros((0, 2)), np.zeros(0))
    assert len(stream) == 5 and torch.equal(stream.predict(XT).mean, before)
    assert stream.predict(np.zeros((0, 2))).mean.shape == (0, 1)
    assert stream.log_prob(np.zeros((0, 2)), np.zeros(0)) == 0


NAN, INF = float("nan"), float("inf")
BAD_ROWS: dict[str, tuple[Any, Any, type[IncTNPError], str]] = {
    "too few features": ([[1.0], [2.0]], [0.0, 0.0], ShapeError, r"x must be \[2\].*\[rows, 2\].*not \[2, 1\]"),
    "too many axes": (np.zeros((1, 3, 2)), np.zeros(3), ShapeError, r"\[rows, 2\] for many, not \[1, 3, 2\]"),
    "a scalar": (1.0, 0.0, ShapeError, r"x must be \[2\] for one row"),
    "nothing": ([], [], ShapeError, r"not \[0\]"),
    "NaN in x": (
        [[0.0, 1.0], [0.0, NAN]],
        [0.0, 0.0],
        DataError,
        r"x holds nan in row 6 \(column 1\).*still has its 5",
    ),
    "NaN in y": ([[0.0, 1.0], [0.0, 1.0]], [0.0, NAN], DataError, r"y holds nan in row 6"),
    "infinity": ([0.0, INF], 0.0, DataError, r"x holds inf in row 5"),
    "opposite infinities": ([[INF, 1.0], [-INF, 1.0]], [0.0, 0.0], DataError, "x holds inf in row 5"),
    "too few outcomes": (X[:3], Y[:2], ShapeError, r"each of the 3 rows of x \(shape \[3, 1\]\), not shape \[2, 1\]"),
    "too many outcomes": (X[0], Y[:2], ShapeError, r"each of the 1 row of x.*not shape \[2, 1\]"),
    "transposed outcomes": (X[:3], Y[:3].T, ShapeError, r"not shape \[1, 3\]"),
    "text": (["a", "b"], 0.0, DtypeError, "x must be numbers"),
    "missing": ([1.0, None], 0.0, DtypeError, "x must be numbers"),
    "ragged": ([[1.0], [1.0, 2.0]], [0.0, 0.0], DtypeError, "x must be numbers"),
    "text among numbers": (np.array([1.0, "u"], dtype=object), 0.0, DtypeError, r"x must be numbers.*'u' at \[1\]"),
    "a gap of pandas": (np.array([1.0, pd.NA], dtype=object), 0.0, DtypeError, r"<NA> at \[1\]"),
    "complex": (np.zeros((3, 2), dtype=complex), np.zeros(3), DtypeError, "real numbers, not torch.complex128"),
}


@pytest.mark.parametrize("name", ["inctnp", "tnp-d", "cnp"])
@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_rows_are_refused_and_nothing_is_learned(case: str, name: str) -> None:
    x, y, error, message = BAD_ROWS[case]
    stream = stream_of(5, toy_model(name), keep_rows=True)
    before, size = stream.predict(XT).mean, stream.nbytes
    for act in (lambda: stream.observe(x, y), lambda: stream.log_prob(x, y)):
        with pytest.raises(error, match=message):
            act()
    assert len(stream) == 5 == stream.held and stream.nbytes == size
    assert torch.equal(stream.predict(XT).mean, before)
    stream.observe(X[5], Y[5])
    assert_same(stream.predict(XT), stream_of(6, toy_model(name)).predict(XT), "after a refusal")


def test_a_transposed_table_is_refused_even_if_its_size_fits() -> None:
    model = toy_model("inctnp", dim_y=2)
    with pytest.raises(ShapeError, match=r"not shape \[2, 3\]"):
        model.stream().observe(X[:3], np.zeros((2, 3)))
    with pytest.raises(ShapeError, match=r"not shape \[3, 2\]"):
        toy_model("inctnp").stream(batch=2).observe(np.zeros((2, 3, 2)), np.zeros((3, 2)))
    with pytest.raises(ShapeError, match=r"not shape \[6\]"):
        model.stream().observe(X[:3], np.zeros(6))


def test_one_feature_still_needs_its_axis_and_the_message_says_so() -> None:
    with pytest.raises(ShapeError, match=r"x\[:, None\]"):
        toy_model("inctnp", dim_x=1).stream().observe(np.zeros(7), np.zeros(7))


def test_values_that_only_overflow_when_added_up_are_accepted() -> None:
    toy_model("inctnp").float().stream().observe([[3e38, 3e38]], [0.0])


MISTAKES = """
import inctnp
from inctnp.errors import IncTNPError

model = inctnp.build(inctnp.ModelConfig(name="inctnp", dim_x=1, width=8, heads=1, layers=1))
stream = model.stream(keep_rows=True)
stream.observe([[0.1], [0.2], [0.3]], [1.0, 2.0, 3.0])
before = stream.predict([0.5]).mean
for act in (
    lambda: stream.rollback(1.5),
    lambda: stream.rollback("start"),
    lambda: stream.sample([[0.5]], 2.5),
    lambda: stream.log_prob([[0.5]], [1.0], orders=-2),
    lambda: model.stream(policy="window", max_points=10.5),
    lambda: model.stream(batch=2.0),
    lambda: model.stream(batch="two"),
):
    try:
        act()
    except IncTNPError as error:
        print(type(error).__name__, error)
    assert len(stream) == stream.held == 3 and stream.predict([0.5]).mean == before
"""


def test_what_a_type_checker_would_catch_is_refused_without_one_too() -> None:
    """In a process of its own, for types are checked while tests run."""
    run = subprocess.run([sys.executable, "-c", MISTAKES], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in run.stdout.splitlines()] == [
        "RollbackError",
        "RollbackError",
        "ShapeError",
        "ConfigError",
        "ConfigError",
        "ShapeError",
        "ShapeError",
    ]
    assert "roll back to 1.5" in run.stdout and "{'max_points': 10.5}" in run.stdout


def test_without_a_prior_the_first_question_has_no_answer() -> None:
    for name in ("cnp", "tnp-d", "lbanp", "tnp-a", "inctnp", "inctnp-seq"):
        stream = toy_model(name).stream()
        for ask in (
            lambda s=stream: s.predict(XT),
            lambda s=stream: s.sample(XT, 2),
            lambda s=stream: s.log_prob(XT, YT),
        ):
            with pytest.raises(EmptyContextError, match="at least one point"):
                ask()
    assert MODEL.stream().predict(XT).mean.shape == (3, 1)


@pytest.mark.parametrize("to", [-1, 6])
def test_a_rollback_past_either_end_is_refused(to: int) -> None:
    stream = stream_of(5)
    with pytest.raises(RollbackError, match=f"row {to}: this stream has seen rows 0 to 5"):
        stream.rollback(to)
    assert len(stream) == 5


def test_a_running_sum_goes_back_only_with_its_rows() -> None:
    stream = stream_of(5, toy_model("cnp"))
    before = stream.predict(XT).mean
    with pytest.raises(RollbackError, match=r"keep_rows=True"):
        stream.rollback(3)
    assert len(stream) == 5 and torch.equal(stream.predict(XT).mean, before)
    stream.rollback(5)
    stream.rollback(0)
    assert len(stream) == 0


@pytest.mark.parametrize(
    ("settings_", "error", "message"),
    [
        ({"policy": "forget"}, ConfigError, "'forget': choose all, window, reservoir"),
        ({"policy": "window"}, ConfigError, "needs max_points of at least 4, not None"),
        ({"policy": "reservoir", "max_points": 3}, ConfigError, "at least 4, not 3"),
        ({"policy": "window", "max_points": 8, "anchor": 5}, ConfigError, "anchor 5 must leave at least 4 of the 8"),
        ({"max_points": 8}, ConfigError, "all policy takes no max_points"),
        ({"policy": "reservoir", "max_points": 8, "anchor": 2}, ConfigError, "takes no anchor"),
        ({"storage": "int4"}, UnknownNameError, "int4"),
        ({"batch": 0}, ShapeError, "at least one task or stream"),
    ],
)
def test_impossible_settings_are_refused(settings_: dict[str, Any], error: type[IncTNPError], message: str) -> None:
    with pytest.raises(error, match=message):
        MODEL.stream(**settings_)


@pytest.mark.parametrize("name", ["cnp", "tnp-d", "lbanp", "tnp-a"])
def test_narrow_storage_is_refused_where_nothing_is_cached(name: str) -> None:
    with pytest.raises(ConfigError, match="nothing to store as 'int8'"):
        toy_model(name).stream(storage="int8")


def test_a_stream_fed_in_inference_mode_goes_on_outside_of_it() -> None:
    stream = MODEL.stream(keep_rows=True)
    with torch.inference_mode():
        stream.observe(X[:2], Y[:2])
    for i in range(2, 5):
        stream.observe(X[i], Y[i])
    assert_same(stream.predict(XT), stream_of(5).predict(XT), "partly in inference mode")


def test_streams_of_one_model_do_not_know_each_other() -> None:
    one, other = MODEL.stream(), MODEL.stream()
    one.observe(X[:5], Y[:5])
    assert len(other) == 0
    assert_same(other.predict(XT), MODEL.stream().predict(XT), "a stream that saw nothing")


@pytest.mark.parametrize(("storage", "bound"), [("bfloat16", 0.02), ("int8", 0.02)])
def test_narrow_storage_moves_predictions_by_a_bounded_share_of_their_deviation(storage: str, bound: float) -> None:
    """Measured on twenty random networks of the paper's head width: 0.3 % (bfloat16) and 0.5 % (int8) typically."""
    worst = 0.0
    for seed in range(5):
        model = inctnp.build(inctnp.ModelConfig(name="inctnp", dim_x=2, width=64, heads=4, layers=3))
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(seed)) * p.shape[-1] ** -0.5)
        model.double()
        exact, narrow = stream_of(100, model).predict(XT), stream_of(100, model, storage=storage).predict(XT)
        worst = max(worst, ((narrow.mean - exact.mean).abs() / exact.stddev).max().item())
        worst = max(worst, (narrow.stddev / exact.stddev - 1).abs().max().item())
    assert 1e-7 < worst < bound


@pytest.mark.parametrize("storage", ["bfloat16", "int8"])
def test_narrow_storage_does_not_depend_on_how_the_stream_was_cut(storage: str) -> None:
    at_once, in_parts = stream_of(90, storage=storage), MODEL.stream(storage=storage)
    for part in range(0, 90, 7):
        in_parts.observe(X[part : min(part + 7, 90)], Y[part : min(part + 7, 90)])
    # Rounding to float64 may tip a value over the edge of a step of the narrow type; it must stay that rare.
    torch.testing.assert_close(in_parts.predict(XT).mean, at_once.predict(XT).mean, rtol=0, atol=1e-9)
