from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats

from inctnp.generators.kernels import MIXED, NAMES, Kernel, draw_kernel
from inctnp.seeding import generator

Covariance = Callable[[str, float, np.ndarray, np.ndarray], np.ndarray]


def places(batch: int, points: int) -> torch.Tensor:
    return torch.empty(batch, points, 1, dtype=torch.float64).uniform_(-2, 2, generator=generator(0, "places", points))


def of(names: list[str], scales: list[float]) -> Kernel:
    return Kernel(
        family=torch.tensor([NAMES.index(name) for name in names]),
        lengthscale=torch.tensor(scales, dtype=torch.float64),
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [0.25, 0.6, 1.0])
def test_a_kernel_is_scikit_learns(name: str, scale: float, reference_kernel: Covariance) -> None:
    rows, columns = places(1, 7), places(1, 5)
    ours = of([name], [scale])(rows, columns)[0]
    theirs = reference_kernel(name, scale, rows[0].numpy(), columns[0].numpy())
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


def test_a_batch_of_different_kernels_evaluates_each_task_with_its_own(reference_kernel: Covariance) -> None:
    scales = [0.3, 0.5, 0.7, 0.9, 0.4]
    x = places(5, 6)
    together = of(list(NAMES), scales)(x, x)
    for task, (name, scale) in enumerate(zip(NAMES, scales, strict=True)):
        alone = reference_kernel(name, scale, x[task].numpy(), x[task].numpy())
        np.testing.assert_allclose(together[task], alone, rtol=1e-12, atol=1e-14)


def test_lengthscales_are_log_uniform_within_their_bounds() -> None:
    drawn = draw_kernel(MIXED, (0.25, 1.0), 4000, False, generator(1)).lengthscale.log()
    low, high = np.log(0.25), np.log(1.0)
    assert low <= drawn.min() and drawn.max() <= high
    assert stats.kstest(drawn.numpy(), stats.uniform(low, high - low).cdf).pvalue > 1e-3


def test_every_family_is_drawn_equally_often() -> None:
    drawn = draw_kernel(MIXED, (0.25, 1.0), 5000, False, generator(2)).family
    assert stats.chisquare(torch.bincount(drawn, minlength=5).numpy()).pvalue > 1e-3


def test_a_shared_kernel_is_one_for_the_batch_and_changes_between_batches() -> None:
    first, second = (draw_kernel(MIXED, (0.25, 1.0), 8, True, generator(3, step)) for step in (0, 1))
    assert len(first.lengthscale.unique()) == 1 and len(first.family.unique()) == 1
    assert first.lengthscale[0] != second.lengthscale[0]
