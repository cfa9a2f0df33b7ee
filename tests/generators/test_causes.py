import pytest
import scipy.stats
import torch

from inctnp.generators.causes import FAMILIES, NAMES, SAMPLINGS, draw_causes, draw_families, standard_gamma


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("shape", [0.1, 0.5, 1.0, 3.0, 10.0])
def test_gamma_variables_pass_a_test_of_fit(shape: float) -> None:
    sample = standard_gamma(torch.tensor([[shape]]), 20_000, rng()).flatten().double().numpy()
    assert scipy.stats.kstest(sample, scipy.stats.gamma(shape).cdf).pvalue > 1e-3


def test_many_shapes_at_once_are_each_their_own() -> None:
    shapes = torch.tensor([[0.5], [2.0], [8.0]])
    sample = standard_gamma(shapes, 20_000, rng(1)).double()
    for row, shape in zip(sample, shapes.flatten().tolist(), strict=True):
        assert scipy.stats.kstest(row.numpy(), scipy.stats.gamma(shape).cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_every_family_is_finite_and_within_its_bounds(name: str) -> None:
    x = FAMILIES[name](200, 500, rng(2))
    low, high = {
        "uniform": (0, 1),
        "beta": (0, 1),
        "lognormal": (0, 1e4),
        "gamma": (0, 100),
        "categorical": (0, 9),
        "zipf": (1, 10),
    }.get(name, (-10, 10))
    assert x.shape == (200, 500) and x.isfinite().all()
    assert low <= x.min() and x.max() <= high
    assert (x.std(dim=1) > 0).float().mean() > 0.95


def test_categories_and_ranks_are_whole_numbers_and_ranks_fall_off() -> None:
    for name in ("categorical", "zipf"):
        x = FAMILIES[name](300, 400, rng(3))
        assert torch.equal(x, x.round())
    share = torch.bincount(x.long().flatten(), minlength=11)[1:].double()
    assert (share[:8].diff() < 0).all()


def test_a_task_sampled_one_way_has_causes_of_that_family_alone() -> None:
    for index, name in enumerate(SAMPLINGS[1:], start=1):
        assert set(draw_families(torch.full((50,), index), rng(4)).tolist()) == {NAMES.index(name)}


def test_mixed_causes_come_in_the_stated_shares() -> None:
    share = torch.bincount(draw_families(torch.zeros(20_000, dtype=torch.int64), rng(5)), minlength=7) / 20_000
    expected = torch.tensor([0.12] * 5 + [0.2, 0.2])
    assert (share - expected).abs().max() < 0.015


def test_columns_keep_the_place_of_their_family() -> None:
    family = torch.tensor([6, 0, 1, 6])
    x = draw_causes(family, 50, rng(6))
    assert (x[[0, 3]] >= 1).all() and (x[2] < 1).all() and (x[1] < 0).any()
