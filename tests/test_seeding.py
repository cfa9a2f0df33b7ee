"""Named random streams."""

import torch

from inctnp.seeding import generator


def test_names_and_seeds_lead_to_streams_that_have_nothing_in_common() -> None:
    paths = [(s, *rest) for s in (0, 1) for rest in ((), ("a",), ("a", 1), ("a", "1"), ("a1",), (1,), ("1",), (1, "a"))]
    draws = torch.stack([torch.randn(2000, generator=generator(*path)) for path in paths])
    assert len({row[0].item() for row in draws}) == len(paths)
    correlations = torch.corrcoef(draws) - torch.eye(len(paths))
    assert correlations.abs().max() < 0.12


def test_asking_twice_starts_again_and_leaves_the_global_state_alone() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = torch.rand(3, generator=generator(5, "x"))
    assert torch.equal(torch.rand(3, generator=generator(5, "x")), first)
    assert torch.equal(torch.get_rng_state(), before)
