from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from inctnp.errors import ConfigError, DataError, UnknownNameError
from inctnp.generators.files import why_missing
from inctnp.generators.real_tables import RECIPES, StaticTasks, StreamingProtocol, TableStream, load_table
from inctnp.generators.scaling import Standard
from inctnp.generators.tables import Table

SHAPES = {"skillcraft": (3338, 18), "powerplant": (9568, 4), "elevators": (16599, 16), "protein": (44019, 9)}


def needs(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    reason = why_missing(RECIPES[name].file)
    return pytest.mark.skipif(reason is not None, reason=str(reason))


def toy(rows: int = 600, seed: int = 0) -> Table:
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 3, generator=rng, dtype=torch.float64).exp()
    return Table(name="toy", x=x, y=x.sum(dim=1, keepdim=True), features=("a", "b", "c"))


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in RECIPES])
def test_every_table_has_the_rows_and_features_of_the_paper(name: str) -> None:
    table = load_table(name)
    assert table.x.shape == SHAPES[name] and table.y.shape == (SHAPES[name][0], 1)
    assert table.x.isfinite().all() and table.y.isfinite().all()
    assert RECIPES[name].target not in table.features and "GameID" not in table.features
    assert (table.x.std(dim=0) >= 1e-5).all()


@needs("skillcraft")
def test_skillcraft_predicts_the_league_from_logarithms() -> None:
    table = load_table("skillcraft")
    assert table.y.unique().tolist() == [1, 2, 3, 4, 5, 6, 7]
    age = table.x[:, table.features.index("Age")].expm1()
    assert_close(age, age.round(), atol=1e-9, rtol=0)
    assert age.min() == pytest.approx(16) and age.max() == pytest.approx(44)


@needs("protein")
def test_protein_has_no_two_equal_rows_and_keeps_their_order() -> None:
    table = load_table("protein")
    rows = torch.cat([table.x, table.y], dim=1)
    assert len(rows.unique(dim=0)) == len(rows)
    assert table.y[0].item() == 17.284 and table.decisions == {"rows left out": 1711}


def test_an_unknown_table_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="protein"):
        load_table("housing")


def test_a_static_task_uses_every_row_once_and_half_to_four_fifths_as_context() -> None:
    source = StaticTasks(table=toy(100))
    sizes = []
    for step in range(40):
        task = source.batch(step)
        sizes.append(task.xc.shape[1])
        assert task.xc.shape[1] + task.xt.shape[1] == 100
    assert min(sizes) >= 50 and max(sizes) <= 80 and len(set(sizes)) > 10
    assert task.xc.shape[2] == 20 and (task.xc[..., 3:] == 0).all() and task.xt.abs().max() <= 5
    assert_close(task.yc.std(dim=1, correction=0), torch.ones(1, 1), atol=0.2, rtol=0)


def test_a_static_task_depends_on_seed_and_step_alone() -> None:
    first, second = StaticTasks(table=toy()), StaticTasks(table=toy())
    second.batch(1)
    assert torch.equal(first.batch(4).xt, second.batch(4).xt)
    assert not torch.equal(first.batch(4).yc[:, :300], first.batch(5).yc[:, :300])


def test_a_stream_divides_the_rows_as_the_paper_does() -> None:
    stream = StreamingProtocol(table=toy(2000)).stream(0)
    assert (len(stream.targets), len(stream.calibration), stream.rows) == (400, 320, 1280)
    everything = torch.cat([stream.targets, stream.calibration, stream.order])
    assert everything.sort().values.tolist() == list(range(2000))
    assert len(StreamingProtocol(table=toy(600)).stream(0).calibration) == 200


def test_streams_are_numbered_and_repeatable() -> None:
    protocol = StreamingProtocol(table=toy())
    assert torch.equal(protocol.stream(3).order, protocol.stream(3).order)
    assert not torch.equal(protocol.stream(3).order, protocol.stream(4).order)
    assert not torch.equal(protocol.stream(3).order, replace(protocol, seed=1).stream(3).order)


@settings(max_examples=20, deadline=None)
@given(seen=st.integers(0, 280), permutation=st.integers(0, 9))
def test_nothing_that_arrives_later_is_known(seen: int, permutation: int) -> None:
    table = toy()
    protocol = StreamingProtocol(table=table)
    stream = protocol.stream(permutation)
    later = stream.order[seen:]
    x, y = table.x.clone(), table.y.clone()
    x[later] = 1e3
    y[later] = -1e3
    changed = replace(stream, table=replace(table, x=x, y=y))
    before, after = stream.at(seen), changed.at(seen)
    for name in ("xc", "yc", "xt", "yt"):
        assert torch.equal(getattr(before, name), getattr(after, name))
    if seen < stream.rows:
        assert not torch.equal(stream.at(stream.rows).xt, changed.at(stream.rows).xt)


def test_a_stream_is_what_running_statistics_give_row_by_row() -> None:
    stream = StreamingProtocol(table=toy()).stream(1)
    table, running = stream.table, Standard.of(stream.table.x[stream.calibration], clip=5.0)
    rows = []
    for number in stream.order[:50]:
        running = running.update(table.x[number])
        rows.append(running.apply(table.x[number]).float())
    xc, yc = stream.context(0, 50)
    assert_close(xc[0, :, :3], torch.stack(rows), atol=1e-6, rtol=1e-6)
    assert_close(stream.question(50)[0][0, :, :3], running.apply(table.x[stream.targets]).float())
    known = table.y[stream.calibration]
    wanted = (table.y[stream.order[:50]] - known.mean()) / known.std(correction=0)
    assert_close(yc[0], wanted.clamp(-5, 5).float())


def test_rows_that_have_arrived_keep_their_scaling() -> None:
    stream = StreamingProtocol(table=toy()).stream(2)
    whole = stream.context()[0]
    pieces = torch.cat([stream.context(a, b)[0] for a, b in ((0, 7), (7, 8), (8, 200), (200, stream.rows))], dim=1)
    assert_close(pieces, whole, atol=1e-6, rtol=1e-6)
    assert torch.equal(stream.at(100).xc, whole[:, :100])
    # ... while the same question is scaled by what is known by then, and its right answer stays in one unit.
    assert not torch.equal(stream.question(0)[0], stream.question(100)[0])
    assert torch.equal(stream.question(0)[1], stream.question(100)[1])


@pytest.mark.parametrize("seen", [-1, 281])
def test_moments_outside_the_stream_are_refused(seen: int) -> None:
    stream: TableStream = StreamingProtocol(table=toy()).stream(0)
    with pytest.raises(DataError, match="has 280 rows"):
        stream.at(seen)


def test_tables_too_small_or_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(DataError, match="nothing to stream"):
        StreamingProtocol(table=toy(250))
    with pytest.raises(DataError, match="at least 10"):
        StaticTasks(table=toy(9))
    with pytest.raises(DataError, match="3 features"):
        StaticTasks(table=toy(), dim_x=2)
    for share in ((0.0, 0.5), (0.8, 0.5), (0.5, 1.0)):
        with pytest.raises(ConfigError):
            StaticTasks(table=toy(), share=share)
    with pytest.raises(ConfigError):
        StreamingProtocol(table=toy(), target_share=1.0)
