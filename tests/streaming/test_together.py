"""Many streams that step together are the same streams stepping one by one."""

from typing import Any

import pytest
import torch

import inctnp
from inctnp.errors import ConfigError, DataError, ShapeError
from inctnp.streaming.together import step_together
from inctnp.testing.checks import assert_same
from inctnp.testing.toy import toy_model, toy_points
from tests.fused.conftest import narrow
from tests.fused.test_process import assert_near

LENGTHS = (0, 1, 5, 64, 65, 130)
TOY = toy_model("inctnp-prior")


def streams_of(model: Any, lengths: tuple[int, ...] = LENGTHS, **settings: Any) -> list[inctnp.Stream]:
    streams = []
    for i, length in enumerate(lengths):
        stream = model.stream(**settings)
        stream.observe(*toy_points(model, length, seed=i))
        streams.append(stream)
    return streams


@pytest.mark.parametrize("name", ["inctnp-prior", "tnp-d"])
def test_eager_streams_step_together_as_one_by_one(name: str) -> None:
    model = toy_model(name)
    lengths = LENGTHS if name == "inctnp-prior" else (1, 5, 9)
    together, alone = (streams_of(model, lengths, keep_rows=True) for _ in range(2))
    for turn in range(3):
        x, y = toy_points(model, len(together), seed=100 + turn)
        got = step_together(together, x, y)
        for i, stream in enumerate(alone):
            assert_same(got.reshape(lambda part, i=i: part[..., i, :]), stream.step(x[i], y[i]), "a stream of many")
    assert [len(s) for s in together] == [len(s) for s in alone] == [length + 3 for length in lengths]
    together[-1].rollback(to=1)
    assert len(together[-1]._x) == 1


@pytest.mark.parametrize("storage", ["exact", "bfloat16", "int8"])
@pytest.mark.parametrize("components", [1, 3])
@torch.no_grad()
def test_one_compiled_call_is_many(storage: str, components: int) -> None:
    model = narrow(components=components, dim_y=2)
    together, alone = (streams_of(model, backend="fused", storage=storage) for _ in range(2))
    for turn in range(3):
        x, y = toy_points(model, len(together), seed=100 + turn)
        got = step_together(together, x, y)
        for i, stream in enumerate(alone):
            mine = got.reshape(lambda part, i=i: part[..., i : i + 1, :])
            assert_near(mine, stream.step(x[i], y[i]).reshape(lambda part: part[..., None, :]))


@torch.no_grad()
def test_forks_that_share_a_buffer_do_not_write_over_each_other() -> None:
    model = narrow()
    (parent,) = streams_of(model, (70,), backend="fused")
    forks = [parent, parent.fork(), parent.fork()]
    wanted = [stream.fork() for stream in streams_of(model, (70, 70, 70), backend="eager")]
    for stream in wanted:
        stream.rollback(to=0)
        stream.observe(*toy_points(model, 70, seed=0))
    for turn in range(4):
        x, y = toy_points(model, 3, seed=50 + turn)
        got = step_together(forks, x, y)
        for i, stream in enumerate(wanted):
            mine = got.reshape(lambda part, i=i: part[..., i : i + 1, :])
            assert_near(mine, stream.step(x[i], y[i]).reshape(lambda part: part[..., None, :]))


def test_what_does_not_fit_together_is_refused_and_nothing_is_learned() -> None:
    streams = streams_of(TOY, (3, 4))
    x, y = toy_points(TOY, 2)
    window = TOY.stream(policy="window", max_points=10)
    with pytest.raises(ConfigError, match="each of them once"):
        step_together([streams[0], streams[0]], x, y)
    with pytest.raises(ConfigError, match="each of them once"):
        step_together([], x, y)
    with pytest.raises(ConfigError, match="policy='all'"):
        step_together([streams[0], window], x, y)
    with pytest.raises(ConfigError, match="one model"):
        step_together([streams[0], toy_model("cnp").stream()], x, y)
    with pytest.raises(ShapeError, match="one row to each of the 2 streams, not 1"):
        step_together(streams, x[:1], y[:1])
    with pytest.raises(DataError, match="nan"):
        step_together(streams, x, [1.0, float("nan")])
    assert [len(stream) for stream in streams] == [3, 4]
