import pytest
import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from inctnp.metrics.flops import count_flops
from inctnp.testing.toy import toy_model
from tests.metrics.conftest import toy_task


def test_attention_counts_its_two_products() -> None:
    query = torch.randn(1, 2, 700, 16)
    work = count_flops(lambda: F.scaled_dot_product_attention(query, query, query))
    assert work == 2 * (2 * 2 * 700 * 700 * 16)


@pytest.mark.parametrize("name", ["cnp", "tnp-d", "inctnp", "tnp-a"])
def test_models_count_as_with_pytorchs_own_counter(name: str) -> None:
    model = toy_model(name)
    task = toy_task(model, 8, 4)
    with FlopCounterMode(display=False) as counter:
        model.objective(task).backward()
    assert count_flops(lambda: model.objective(task).backward()) == counter.get_total_flops() > 0
