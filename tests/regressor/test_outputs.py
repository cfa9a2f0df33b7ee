from pathlib import Path

import pytest
import torch

from inctnp.errors import ConfigError, DataError
from inctnp.models.base import NeuralProcess
from inctnp.regressor import StreamingOutputs, StreamingRegressor
from tests.regressor.conftest import make_stream

ROWS, Y = make_stream(30)


def test_each_outcome_is_a_stream_of_its_own(model: NeuralProcess, tmp_path: Path) -> None:
    outputs = StreamingOutputs(["level", "slope"], model)
    level, slope = StreamingRegressor(model), StreamingRegressor(model)
    for i, (row, y) in enumerate(zip(ROWS, Y, strict=True)):
        known = -y if i % 3 else None
        p = outputs.step(row, {"level": y, "slope": known})
        assert torch.equal(p["level"].mean, level.step(row, y).mean)
        assert torch.equal(p["slope"].mean, slope.predict([row]).mean)
        if known is not None:
            slope.step(row, known)
    assert (outputs.rows("level"), outputs.rows("slope")) == (30, 20)
    loaded = StreamingOutputs.load(outputs.save(tmp_path / "state"), model)
    assert loaded.names == outputs.names and loaded.monitor("slope") == slope.monitor
    for name in outputs.names:
        assert torch.equal(loaded.predict(ROWS[:2])[name].stddev, outputs.predict(ROWS[:2])[name].stddev)


def test_an_outcome_that_is_refused_leaves_the_others_unlearned(model: NeuralProcess) -> None:
    outputs = StreamingOutputs(["a", "b"], model)
    for wrong, message in (({"a": 1.0, "b": float("nan")}, "finite"), ({"a": 1.0, "c": 2.0}, "a, b")):
        with pytest.raises(DataError, match=message):
            outputs.step(ROWS[0], wrong)
    assert outputs.rows("a") == 0
    with pytest.raises(ConfigError, match="name of its own"):
        StreamingOutputs(["a", "a"], model)
