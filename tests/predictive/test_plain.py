import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from inctnp.errors import ConfigError
from inctnp.predictive.mixture import Mixture
from inctnp.predictive.plain import PlainMixture

Part = tuple[float, float, float]
part = st.tuples(st.floats(0.01, 1.0), st.floats(-50.0, 50.0), st.floats(0.01, 20.0))


def made(parts: list[Part]) -> PlainMixture:
    weights, means, stddevs = zip(*parts, strict=True)
    total = sum(weights)
    return PlainMixture([w / total for w in weights], means, stddevs)


mixtures = st.lists(part, min_size=1, max_size=6)


def in_tensors(p: PlainMixture) -> Mixture:
    weights, means, stddevs = (torch.tensor(v, dtype=torch.float64)[:, None] for v in (p.weights, p.means, p.stddevs))
    return Mixture(weights.log(), means, stddevs)


@given(mixtures, st.floats(-60.0, 60.0))
def test_answers_are_those_of_the_tensors(parts: list[Part], y: float) -> None:
    p = made(parts)
    tensors, at = in_tensors(p), torch.tensor([y], dtype=torch.float64)
    for ours, theirs in (
        (p.mean, tensors.mean),
        (p.variance, tensors.variance),
        (p.log_prob(y), tensors.log_prob(at)),
        (p.cdf(y), tensors.cdf(at)),
        (p.crps(y), tensors.crps(at)),
    ):
        assert ours == pytest.approx(theirs.item(), rel=1e-6, abs=1e-6)


@given(mixtures, st.floats(1e-6, 1 - 1e-6))
def test_a_quantile_is_where_the_distribution_function_has_its_level(parts: list[Part], level: float) -> None:
    p = made(parts)
    at = p.quantile(level)
    assert p.cdf(at - 1e-9) <= level <= p.cdf(at + 1e-9)


def test_a_density_far_away_is_finite() -> None:
    assert math.isfinite(PlainMixture([1.0], [0.0], [1e-3]).log_prob(1e6))


def test_levels_that_are_no_probabilities_are_refused() -> None:
    p = PlainMixture([1.0], [0.0], [1.0])
    assert p.quantile(0.0) == -math.inf and p.quantile(1.0) == math.inf
    with pytest.raises(ConfigError, match="between 0 and 1"):
        p.quantile(1.5)
