import math
import sys

import numpy as np
import pytest
import torch

from inctnp.baselines.online_regressors import Refitted, WithRunningError
from inctnp.baselines.registry import NAMES, online_regressor
from inctnp.errors import ConfigError, UnknownNameError


def rows(count: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 3, generator=rng)
    return x, x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.1 * torch.randn(count, 1, generator=rng)


@pytest.mark.parametrize("name", NAMES)
def test_each_learns_a_stream_and_says_how_wrong_it_is(name: str) -> None:
    if name.startswith("river"):
        pytest.importorskip("river")
    regressor = online_regressor(name)
    x, y = rows(200)
    assert torch.isfinite(regressor.predict(x[:2]).stddev).all()
    for start in range(0, 200, 50):
        regressor.observe(x[start : start + 50], y[start : start + 50])
    xt, yt = rows(50, seed=1)
    p = regressor.predict(xt)
    assert p.mean.shape == (50, 1)
    assert (p.mean - yt).square().mean() < 0.6 * yt.square().mean()
    assert p.log_prob(yt).mean() > -0.5 * math.log(2 * math.pi * yt.var().item() * math.e)


class Echo:
    """Guesses the last outcome it learned."""

    def __init__(self) -> None:
        self.last = 0.0

    def learn(self, x: np.ndarray, y: np.ndarray) -> None:
        self.last = float(y[-1])

    def guess(self, x: np.ndarray) -> np.ndarray:
        return np.full(len(x), self.last)


def test_the_deviation_is_the_running_error_on_rows_not_yet_learned() -> None:
    regressor = WithRunningError(Echo(), prior_variance=4.0, prior_rows=2.0)
    outcomes = [1.0, 3.0, 2.0, 2.5]
    regressor.observe(torch.zeros(4, 1), torch.tensor(outcomes).unsqueeze(-1))
    errors = np.diff([0.0, *outcomes])
    expected = math.sqrt((2.0 * 4.0 + (errors**2).sum()) / (2 + 4))
    p = regressor.predict(torch.zeros(3, 1))
    np.testing.assert_allclose(p.stddev, expected, rtol=1e-12)
    np.testing.assert_allclose(p.mean, 2.5)


def test_before_anything_is_learned_the_guess_is_the_mean() -> None:
    regressor = WithRunningError(Echo(), warm_up=3)
    regressor.observe(torch.zeros(2, 1), torch.tensor([[1.0], [5.0]]))
    assert regressor.predict(torch.zeros(1, 1)).mean.item() == 3.0


def test_refitting_keeps_its_schedule_and_its_window() -> None:
    fitted: list[tuple[int, float]] = []

    class Noted:
        def fit(self, x: np.ndarray, y: np.ndarray) -> "Noted":
            fitted.append((len(x), float(y[0])))
            return self

    learner = Refitted(Noted, every=8, window=10)
    learner.learn(np.zeros((30, 1)), np.arange(30.0))
    # After 2, 4, 8 and then every 8th row; from the 11th on the oldest have left the window.
    assert fitted == [(2, 0.0), (4, 0.0), (8, 0.0), (10, 6.0), (10, 14.0)]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith("river")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(ConfigError, match=r"inctnp\[river\]"):
        online_regressor("river-linear")


def test_unknown_names_are_answered_with_the_known() -> None:
    with pytest.raises(UnknownNameError, match="river-forest"):
        online_regressor("oracle")
    with pytest.raises(ConfigError):
        Refitted(dict, every=0)
