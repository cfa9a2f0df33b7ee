import numpy as np
import pytest

from inctnp.predictive.plain import PlainMixture
from inctnp.quality.prequential import measure
from inctnp.quality.processes import fit_process
from inctnp.quality.residuals import Residuals
from inctnp.quality.rivals import RIVALS, Held
from inctnp.quality.streams import Example


def linear_stream(rows: int, seed: int = 0) -> list[Example]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3)) * [1.0, 1e3, 1e-3]
    y = 500 + x @ [30.0, -0.05, 1e4] + rng.normal(size=rows)
    return [({"a": a, "b": b, "c": c}, outcome) for (a, b, c), outcome in zip(x.tolist(), y.tolist(), strict=True)]


BEATEN = {"last value": 2.0, "sgd": 1.1, "adaptive tree": 1.1, "adaptive forest": 1.2, "wiski": 1.3}
"""RMSE to be reached after so few rows, in deviations of the outcomes; 0.9 for those not named."""


LONG = ("wiski",)
"""Two hundred steps of pretraining: half a minute while shapes are checked."""


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.slow] * (each in LONG)) for each in RIVALS])
def test_every_rival_learns_a_stream_in_any_units(name: str) -> None:
    stream = linear_stream(100)
    measured = measure(RIVALS[name][1]((1,), len(stream), 0), stream)
    assert measured.rmse < BEATEN.get(name, 0.9)
    assert -4 < measured.log_score < 3 and 0 < measured.crps < 1 and measured.coverage > 0.6


@pytest.mark.parametrize("name", ["linear", "bayesian linear", "process by errors"])
def test_no_rival_knows_what_comes_later(name: str) -> None:
    one = linear_stream(45)
    other = [*one[:30], *linear_stream(45, seed=1)[30:]]
    asked: list[list[PlainMixture]] = []
    for stream in (one, other):
        rival = RIVALS[name][1]((1,), 45, 0)
        asked.append([])
        for row, y in stream[:31]:
            asked[-1].append(rival.ask(row))
            rival.tell(y)
    means = np.array([[p.mean for p in answers] for answers in asked])
    np.testing.assert_array_equal(means[0, :30], means[1, :30])
    assert means[0, 30] != means[1, 30]


def test_intervals_by_errors_hold_what_they_promise() -> None:
    rng = np.random.default_rng(0)
    residuals, inside = Residuals(), []
    for _ in range(1500):
        y = 7.0 + 3.0 * rng.standard_t(4)
        inside.append(abs(residuals.around(7.0).cdf(y) - 0.5) <= 0.45)
        residuals.learn(7.0, y)
    assert np.mean(inside[20:]) == pytest.approx(0.9, abs=0.03)


def test_a_process_predicts_by_the_equations_of_gaussian_processes() -> None:
    rng = np.random.default_rng(0)
    x, question = rng.normal(size=(40, 2)), np.array([0.3, -0.2])
    y = 10 + np.sin(x[:, 0]) + 0.1 * rng.normal(size=40)
    process = fit_process(x, y, seed=0)
    scale, lengthscale, noise = np.exp(process.kernel.theta[0]), np.exp(process.kernel.theta[1:3]), None
    noise = np.exp(process.kernel.theta[3])

    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        apart = (a[:, None] - b[None]) / lengthscale
        return scale * np.exp(-0.5 * (apart**2).sum(axis=-1))

    known, asked = process.scale.apply(x), process.scale.apply(question[None])
    gram = kernel(known, known) + noise * np.eye(40)
    cross = kernel(asked, known)
    mean = cross @ np.linalg.solve(gram, (y - y.mean()) / y.std())
    variance = scale + noise - (cross @ np.linalg.solve(gram, cross.T)).item()
    found = process.predict(x, y, question)
    assert found[0] == pytest.approx(y.mean() + y.std() * mean.item(), rel=1e-5)
    assert found[1] == pytest.approx(y.std() * np.sqrt(variance), rel=1e-4)


def test_a_forecast_that_diverges_is_held() -> None:
    class Diverging:
        def learn(self, x: np.ndarray, y: np.ndarray) -> None: ...

        def guess(self, x: np.ndarray) -> np.ndarray:
            return x[:, 0] * 1e9

    np.testing.assert_array_equal(Held(Diverging()).guess(np.array([[1.0], [-1.0], [0.0]])), [4.0, -4.0, 0.0])
