"""What narrow storage loses, measured against stated bounds."""

import pytest
import torch

from inctnp.errors import UnknownNameError
from inctnp.transformer.storage import STORAGES, storage_named


def rows(scale: float = 1.0) -> torch.Tensor:
    return scale * torch.randn(2, 3, 2, 1, 50, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def there_and_back(name: str, values: torch.Tensor) -> torch.Tensor:
    storage = storage_named(name)
    return storage.unpack(storage.pack(values), values.dtype)


def test_exact_storage_loses_nothing() -> None:
    assert torch.equal(there_and_back("exact", rows()), rows())


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_bfloat16_keeps_eight_significant_bits(scale: float) -> None:
    values = rows(scale)
    assert ((there_and_back("bfloat16", values) - values).abs() <= values.abs() * 2.0**-8).all()


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e3])
def test_int8_is_off_by_little_more_than_half_a_step_of_its_row(scale: float) -> None:
    values = rows(scale)
    # A step is never below the smallest normal float16: rows below 0.008 keep an absolute, not a relative, precision.
    step = (values.abs().amax(dim=-1, keepdim=True) / 127).clamp(min=2.0**-14)
    # Half a step from rounding, and 127 steps times 2^-11 from the scale's own rounding to float16.
    assert ((there_and_back("int8", values) - values).abs() <= step * (0.5 + 127 * 2.0**-11 + 0.01)).all()


def test_int8_error_is_not_exaggerated_by_the_bound() -> None:
    values = rows()
    step = values.abs().amax(dim=-1, keepdim=True) / 127
    assert ((there_and_back("int8", values) - values).abs() > 0.3 * step).any()


@pytest.mark.parametrize("name", STORAGES)
def test_zeros_stay_zeros_and_huge_rows_stay_finite(name: str) -> None:
    assert (there_and_back(name, torch.zeros(2, 1, 1, 1, 3, 8)) == 0).all()
    assert torch.isfinite(there_and_back(name, torch.full((2, 1, 1, 1, 3, 8), 1e30))).all()


@pytest.mark.parametrize("name", STORAGES)
def test_a_row_is_packed_the_same_alone_and_among_others(name: str) -> None:
    together = there_and_back(name, rows())
    alone = torch.cat([there_and_back(name, row) for row in rows().split(1, dim=-2)], dim=-2)
    assert torch.equal(together, alone)


@pytest.mark.parametrize("name", STORAGES)
def test_the_size_calculator_is_right(name: str) -> None:
    values = rows().float()
    packed = storage_named(name).pack(values)
    rows_packed = values.shape[:-1].numel()
    assert sum(part.nbytes for part in packed) == rows_packed * storage_named(name).bytes_per_row(8, torch.float32)


def test_an_unknown_storage_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"int4.*exact, bfloat16, int8"):
        storage_named("int4")
