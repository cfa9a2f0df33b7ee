from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from inctnp.errors import ConfigError, DataError, IncTNPError, MissingDataError, ShapeError
from inctnp.generators.tables import Table, TableTasks, make_task, read_table


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.csv"
    path.write_text(text)
    return path


def toy(rows: int = 60, ordered: bool = False) -> Table:
    """The first feature and the target number the rows."""
    number = torch.arange(rows, dtype=torch.float64).unsqueeze(1)
    return Table(
        name="toy",
        x=torch.cat([number, torch.randn(rows, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)], 1),
        y=number,
        features=("number", "a", "b"),
        ordered=ordered,
    )


def row_numbers(task_x: Tensor) -> Tensor:
    """Ranks of the scaled row numbers of one task: their order survives scaling."""
    return task_x[..., 0].argsort(dim=-1)


def test_liberties_are_counted_and_nothing_else_is_taken(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "day,colour,flag,same,size,when,y\n"
        "3,red,True,7,1.5,2024-01-03,30\n"
        "1,blue,False,7,,2024-01-01,10\n"
        "2,red,True,7,inf,2024-01-02,20\n"
        "4,,True,7,4.5,,\n"
        "5,green,False,7,5.5,2024-01-05,50\n",
    )
    table = read_table(path, "y", time="day")
    assert table.features == ("colour", "flag", "size", "when") and table.ordered and table.rows == 4
    assert table.y.flatten().tolist() == [10, 20, 30, 50]
    assert table.x[:, 0].tolist() == [0, 1, 1, 2]
    assert table.x[:, 1].tolist() == [0, 1, 1, 0]
    assert_close(table.x[:, 2], torch.tensor([torch.nan, torch.nan, 1.5, 5.5], dtype=torch.float64), equal_nan=True)
    assert (table.x[:, 3].diff() / 86400).tolist() == [1, 1, 2]
    assert table.decisions == {
        "rows out of order": 2,
        "rows without target": 1,
        "category columns": 1,
        "date columns": 1,
        "constant columns": 1,
        "missing values": 2,
    }


def test_columns_beyond_what_the_model_takes_are_left_out_in_order(tmp_path: Path) -> None:
    names = [f"f{i}" for i in range(25)]
    rows = [",".join(str(i * j) for i in range(1, 26)) + f",{j}" for j in range(30)]
    table = read_table(write(tmp_path, "\n".join([",".join([*names, "y"]), *rows])), "y")
    assert table.features == tuple(names[:20]) and table.decisions == {"columns beyond most": 5}
    chosen = read_table(tmp_path / "mine.csv", "y", features=("f24", "f3"))
    assert chosen.features == ("f24", "f3") and chosen.x[2].tolist() == [50, 8]


def test_parquet_says_the_same_as_csv(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas", reason="reading Parquet needs inctnp[data]")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"], "y": [1, 2, 3]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    one, two = (read_table(tmp_path / f"t.{kind}", "y") for kind in ("csv", "parquet"))
    assert torch.equal(one.x, two.x) and torch.equal(one.y, two.y) and one.features == two.features


@pytest.mark.parametrize(
    ("text", "settings", "error", "message"),
    [
        ("a,y\n1,2\n3,4\n", {"target": "z"}, DataError, "no column z"),
        ("a,y\n1,2\n3,4\n", {"target": "y", "features": ("b",)}, DataError, "no column b"),
        ("a,y\n1,2\n3,4\n", {"target": "y", "time": "t"}, DataError, "no column t"),
        ("a,y\n1,2\n3,4\n", {"target": "y", "features": ("y",)}, ConfigError, "its own features"),
        ("a,y\n1,low\n3,high\n", {"target": "y"}, DataError, "not a number in 2 rows, for instance 'low' in row 0"),
        ("a,y\n1,2\n3,inf\n4,5\n", {"target": "y"}, DataError, "infinite in 1 rows"),
        ("a,y\n7,2\n7,4\n", {"target": "y"}, DataError, "no feature that varies: a"),
        ("a,y\n7,2\n8,\n", {"target": "y"}, DataError, "at least 2"),
        ("t,a,y\n1,7,2\n,8,3\n", {"target": "y", "time": "t"}, DataError, "empty in row 1"),
        ("t,a,y\nsoon,7,2\nlater,8,3\n", {"target": "y", "time": "t"}, DataError, "neither numbers nor ISO 8601 dates"),
        ("", {"target": "y"}, DataError, "cannot be read"),
    ],
)
def test_files_that_cannot_be_used_say_why(
    tmp_path: Path, text: str, settings: dict[str, str], error: type[IncTNPError], message: str
) -> None:
    with pytest.raises(error, match=message):
        read_table(write(tmp_path, text), **settings)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"nowhere\.csv"):
        read_table(tmp_path / "nowhere.csv", "y")


def test_random_tasks_draw_distinct_rows_in_random_order() -> None:
    source = TableTasks(batch_size=4, table=toy(), context=(20, 20), targets=10)
    x, _ = source.batch(0).as_sequence()
    assert all(len(set(row.tolist())) == 30 for row in x[..., 0])
    assert not torch.equal(row_numbers(x), torch.arange(30).expand(4, -1))


def test_rows_in_time_keep_their_order_and_stay_together() -> None:
    source = TableTasks(batch_size=16, table=toy(ordered=True), context=(20, 20), targets=10)
    task = source.batch(0)
    x, _ = task.as_sequence()
    assert torch.equal(row_numbers(x), torch.arange(30).expand(16, -1))
    # Consecutive numbers are evenly spaced once scaled (the clipping at 5 is not reached by 30 of them).
    assert_close(x[..., 0].diff(dim=1).std(dim=1), torch.zeros(16), atol=1e-5, rtol=0)
    assert task.xc[..., 0].amax() < task.xt[..., 0].amin()


def test_a_batch_depends_on_seed_and_step_alone() -> None:
    make = lambda seed: TableTasks(batch_size=2, table=toy(), context=(5, 20), targets=10, seed=seed)  # noqa: E731
    other = make(0)
    other.batch(1)
    assert torch.equal(make(0).batch(3).xt, other.batch(3).xt)
    assert not torch.equal(make(0).batch(3).xt, make(1).batch(3).xt)
    assert not torch.equal(make(0).batch(3).xt, make(0).batch(4).xt)


def test_scaling_knows_the_context_alone() -> None:
    table, rows = toy(), torch.randperm(60, generator=torch.Generator().manual_seed(1)).view(2, 30)
    task = make_task(table, rows, context=20)
    assert_close(task.xc[..., :3].mean(dim=1), torch.zeros(2, 3), atol=1e-6, rtol=0)
    assert_close(task.yc.std(dim=1, correction=0), torch.ones(2, 1))
    x, y = table.x.clone(), table.y.clone()
    x[rows[:, 20:]] *= 100
    y[rows[:, 20:]] -= 50
    changed = make_task(Table(name="other", x=x, y=y, features=table.features), rows, context=20)
    assert torch.equal(task.xc, changed.xc) and torch.equal(task.yc, changed.yc)
    assert not torch.equal(task.xt, changed.xt) and not torch.equal(task.yt, changed.yt)
    assert changed.xt.abs().max() == 5 and (task.xc[..., 3:] == 0).all()


def test_a_missing_value_is_the_mean_of_its_context() -> None:
    table = toy()
    table.x[4, 1] = torch.nan
    task = make_task(table, torch.arange(30)[None], context=20)
    assert task.xc[0, 4, 1] == 0 and task.xc.isfinite().all()
    assert_close(task.xc[0, :, 1].mean(), torch.tensor(0.0), atol=1e-6, rtol=0)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(DataError, match="which has 60"):
        TableTasks(table=toy(), context=(10, 50), targets=20)
    with pytest.raises(DataError, match="3 features, a task 2"):
        TableTasks(table=toy(), context=(5, 10), targets=5, dim_x=2)
    with pytest.raises(ShapeError, match="1 features"):
        Table(name="bad", x=torch.zeros(3, 2), y=torch.zeros(3, 1), features=("a",))
