"""CNP: a mean of embeddings, kept as a sum that nothing divides in place."""

import pytest
import torch

from inctnp.errors import RollbackError
from inctnp.testing.checks import assert_close
from inctnp.testing.toy import toy_model, toy_points

MODEL = toy_model("cnp")


@torch.no_grad()
def test_the_prediction_reads_the_mean_embedding_and_the_place() -> None:
    x, y = toy_points(MODEL, 5)
    mean = torch.stack([MODEL.encoder(torch.cat([a, b])) for a, b in zip(x, y, strict=True)]).mean(0)
    p = MODEL.query(MODEL.extend(MODEL.empty(), x, y), x)
    for i in range(5):
        assert_close(p.mean[i], MODEL.decoder.net(torch.cat([mean, x[i]]))[:1], f"target {i}")


@torch.no_grad()
def test_an_update_costs_and_keeps_the_same_at_any_length() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    x, y = toy_points(MODEL, 1000)
    costs, sizes = set(), set()
    for n in (1, 10, 999):
        context = MODEL.extend(MODEL.empty(), x[:n], y[:n])
        with FlopCounterMode(display=False) as counter:
            context = MODEL.extend(context, x[n:n + 1], y[n:n + 1])  # fmt: skip
        costs.add(counter.get_total_flops())
        sizes.add(context.nbytes)
    assert len(costs) == len(sizes) == 1 and MODEL.bytes_per_point() == 0


def test_a_sum_cannot_be_taken_apart() -> None:
    x, y = toy_points(MODEL, 5)
    context = MODEL.extend(MODEL.empty(), x, y)
    assert context.truncate(5) is context and len(context.truncate(0)) == 0
    with pytest.raises(RollbackError, match=r"sum of its 5 points.*cannot go back to 3"):
        context.truncate(3)
