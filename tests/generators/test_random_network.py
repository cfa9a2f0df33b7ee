import random

import pytest
import torch
from torch.testing import assert_close

from inctnp.generators.random_network import ACTIVATIONS, INITIALISATIONS, Architecture, draw_layers, run_networks

PLAN = Architecture(
    causal=False,
    features=3,
    causes=3,
    layers=3,
    width=6,
    activation="tanh",
    noise=0.0,
    weight=1.0,
    dropout=0.0,
)


def change(**settings: object) -> Architecture:
    values = {name: getattr(PLAN, name) for name in Architecture.__dataclass_fields__}
    return Architecture(**{**values, **settings})


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_in_place_are_the_usual_ones(name: str) -> None:
    x = torch.linspace(-6, 6, 101)
    usual = {
        "elu": torch.nn.functional.elu,
        "relu": torch.relu,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "identity": lambda h: h,
    }[name]
    assert_close(ACTIVATIONS[name](x.clone()), usual(x))


@pytest.mark.parametrize("initialisation", INITIALISATIONS)
def test_a_network_is_the_formula_it_claims(initialisation: str) -> None:
    plan = change(causal=True, dropout=0.3, weight=0.7)
    causes = torch.randn(3, 40, generator=rng(1))
    features, target = run_networks([plan], causes, initialisation, rng(2))
    again = rng(2)
    net = plan.choose(random.Random(int(torch.randint(2**62, (), generator=again))))
    [[(b0, w0, g0), (b1, w1, g1), (b2, w2, g2)]] = draw_layers([net], initialisation, again)
    first = b0 + g0 * w0 @ causes
    second = torch.tanh(b1 + g1 * w1 @ first)
    third = torch.tanh(b2 + g2 * w2 @ second)
    wanted = torch.cat([second[net.picks[0]], third[:-1]])
    assert_close(target[0], third[-1], rtol=1e-4, atol=1e-5)
    # The order of the features is random: compare them as a set, by their values at the first point.
    assert_close(features[features[:, 0].argsort()], wanted[wanted[:, 0].argsort()], rtol=1e-4, atol=1e-5)


def test_features_are_the_causes_where_nothing_is_hidden() -> None:
    causes = torch.randn(3, 10, generator=rng(3))
    assert torch.equal(run_networks([PLAN], causes, "absolute", rng(4))[0], causes)


def test_weights_have_the_drawn_scale_and_the_drawn_share_is_dropped() -> None:
    plan = change(width=200, weight=3.0, dropout=0.25)
    net = plan.choose(random.Random(0))
    [[first, (_, weight, gain), _]] = draw_layers([net], "absolute", rng(5))
    assert abs((weight == 0).double().mean() - 0.25) < 0.02
    # Dropping does not change the variance of what a layer puts out.
    assert abs((gain * weight).square().mean().sqrt() / 3.0 - 1) < 0.02
    assert (first.weight != 0).all()


def test_published_weights_ignore_scale_and_dropout() -> None:
    loud, quiet = (change(width=100, weight=w, dropout=d) for w, d in ((9.0, 0.5), (0.1, 0.0)))
    causes = torch.randn(3, 20, generator=rng(6))
    a, b = (run_networks([plan], causes, "published", rng(7))[1] for plan in (loud, quiet))
    assert torch.equal(a, b)
    [[_, (_, weight, gain), _]] = draw_layers([loud.choose(random.Random(0))], "published", rng(8))
    assert gain == pytest.approx(0.1) and 0.99 < weight.abs().max() <= 1


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_nothing_overflows_however_deep_and_loud(activation: str) -> None:
    plan = change(layers=30, width=300, weight=40.0, activation=activation, noise=0.3)
    features, target = run_networks([plan], 10 * torch.randn(3, 16, generator=rng(9)), "absolute", rng(10))
    assert features.isfinite().all() and target.isfinite().all()


def test_noise_has_its_standard_deviation_and_differs_from_task_to_task() -> None:
    plan = change(layers=2, activation="identity", weight=1e-9, noise=0.2)
    _, target = run_networks([plan, plan], torch.zeros(6, 5000), "absolute", rng(11))
    centred = target - target.mean(dim=1, keepdim=True)
    assert_close(centred.std(dim=1), torch.full((2,), 0.2), rtol=0.05, atol=0)
    assert not torch.equal(centred[0], centred[1])


def test_chosen_units_are_different_hidden_units_and_never_the_target() -> None:
    plan = change(causal=True, layers=3, width=4, features=7)  # all hidden units but the target
    net = plan.choose(random.Random(12))
    assert [sorted(each) for each in net.picks] == [[0, 1, 2, 3], [0, 1, 2]]
    features, target = run_networks([plan], torch.randn(3, 9, generator=rng()), "fan-in", rng(13))
    distinct = torch.cat([features, target])[:, 0].unique()
    assert len(distinct) == 8
