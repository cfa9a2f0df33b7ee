import numpy as np
import pytest
from benchmarks import regressor_defaults as benchmark

from inctnp.models.base import NeuralProcess
from inctnp.regressor.settings import RegressorSettings


@pytest.mark.parametrize("name", benchmark.MADE)
def test_made_streams_are_as_long_as_asked_and_scored_after_a_start(name: str, model: NeuralProcess) -> None:
    examples = benchmark.MADE[name](25, np.random.default_rng(0))
    scores = benchmark.scored(model, examples, {})
    assert len(examples) == 25 and scores.rows == 25 - benchmark.UNSCORED
    line = benchmark.line("same", {name: scores}, {name: scores})
    assert line.startswith("| same | +0.000 | 0/1 | 1.000 | 1.000 |")


def test_every_choice_is_one_that_exists_and_not_the_default() -> None:
    for name, settings in benchmark.CHOICES.items():
        assert (RegressorSettings(**settings) == RegressorSettings()) == (name == "default")
