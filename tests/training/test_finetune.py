"""Going on from trained weights with one's own tables."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import inctnp
from inctnp.errors import ConfigError, DataError
from inctnp.generators.tables import Table
from inctnp.models.build import build
from inctnp.models.config import ModelConfig
from inctnp.pretrained.weights import save_pretrained, weights_hash
from inctnp.training.finetune import FineTuning, MixedTables, finetune, finetune_recipe, save_finetuned

SETTINGS = FineTuning(steps=60, rate=3e-3, batch_size=4, context=24, targets=16)


def table(rows: int = 150, ordered: bool = False, name: str = "own") -> Table:
    rng = torch.Generator().manual_seed(4)
    x = torch.randn(rows, 2, generator=rng, dtype=torch.float64)
    y = x @ torch.tensor([[1.0], [-2.0]], dtype=torch.float64) + 3
    return Table(name=name, x=x, y=y, features=("a", "b"), ordered=ordered)


@pytest.fixture
def weights(tmp_path: Path) -> str:
    torch.manual_seed(0)
    model = build(ModelConfig(name="inctnp-seq", dim_x=4, width=16, heads=2, layers=1, std_min=0.01, prior=True))
    return str(save_pretrained(model, tmp_path / "weights"))


def test_it_improves_on_rows_it_never_saw_and_loads_again(weights: str, tmp_path: Path) -> None:
    chosen = finetune_recipe(weights, [table()], SETTINGS)
    result = finetune(chosen, tmp_path / "run", every=30)
    assert result.after > result.before + 0.2
    folder = save_finetuned(result, tmp_path / "model", [table()])
    loaded = inctnp.load(str(folder))
    assert weights_hash(loaded) == weights_hash(result.model) != chosen.start.sha256
    card = (folder / "card.md").read_text()
    assert "own (150 rows, 2 features)" in card
    assert f"| the same before fine-tuning | {round(result.before, 5)} |" in card


@pytest.mark.parametrize("ordered", [False, True])
def test_rows_that_are_scored_are_never_trained_on(weights: str, ordered: bool) -> None:
    own = replace(table(ordered=ordered), y=torch.arange(150.0).unsqueeze(1).double())
    chosen = finetune_recipe(weights, [own], SETTINGS)
    trained = set(chosen.phases[0].data.table.y.flatten().tolist())
    kept = set(own.y[chosen.validation.kept].flatten().tolist())
    assert len(kept) == 30
    assert not trained & kept
    assert not ordered or min(kept) > max(trained)
    task = chosen.validation.batch(0)
    assert task.xt.shape == (4, 16, 4)
    if ordered:  # the stretch just before what is asked: the scaled target goes on rising
        assert bool((torch.cat([task.yc, task.yt], dim=1).diff(dim=1) > -1e-6).all())


def test_several_tables_take_turns(weights: str, tmp_path: Path) -> None:
    chosen = finetune_recipe(weights, [table(), table(90, name="second")], replace(SETTINGS, steps=2))
    source = chosen.phases[0].data
    assert isinstance(source, MixedTables)
    assert len({source.batch(i).xc.shape for i in range(12)}) > 1
    assert finetune(chosen, tmp_path / "run", every=2).training.complete


def test_other_rows_or_other_weights_are_another_run(weights: str) -> None:
    first = finetune_recipe(weights, [table()], SETTINGS)
    assert finetune_recipe(weights, [table()], SETTINGS).hash == first.hash
    assert finetune_recipe(weights, [replace(table(), y=table().y + 1)], SETTINGS).hash != first.hash


def test_tables_that_cannot_serve_are_refused(weights: str) -> None:
    with pytest.raises(DataError, match="at least 20"):
        finetune_recipe(weights, [table(12)], SETTINGS)
    wide = Table(name="wide", x=torch.randn(50, 5), y=torch.zeros(50, 1), features=tuple("abcde"))
    with pytest.raises(DataError, match="5 features"):
        finetune_recipe(weights, [wide], SETTINGS)
    with pytest.raises(ConfigError, match="at least one table"):
        finetune_recipe(weights, [], SETTINGS)
    with pytest.raises(ConfigError, match="held_out"):
        FineTuning(held_out=1.0)
