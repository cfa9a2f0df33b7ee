"""The plain training pass is the same function as ours."""

import torch

from inctnp.bench import plain
from inctnp.testing.checks import assert_same
from inctnp.testing.toy import toy_model, toy_points


@torch.no_grad()
def test_the_plain_pass_predicts_what_the_dense_one_does() -> None:
    model = toy_model("inctnp-seq", layers=3)
    x, y = toy_points(model, 11, batch=(2,))
    assert_same(plain.dense(model, x, y), model.dense(x, y), "the plain pass")
