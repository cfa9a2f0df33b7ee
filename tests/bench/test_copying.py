"""The rival implementation answers the same, so that only its cost differs."""

import torch

from inctnp.bench.copying import CopyingIncTNP
from inctnp.testing.checks import assert_same
from inctnp.testing.toy import toy_model, toy_points


@torch.no_grad()
def test_the_copying_cache_answers_what_the_library_answers() -> None:
    model = toy_model("inctnp")
    x, y = toy_points(model, 9, batch=(1,))
    xt, yt = toy_points(model, 4, seed=1, batch=(1,))
    copying = CopyingIncTNP(model)
    copied = copying.extend(copying.extend(None, x[:, :8], y[:, :8]), x[:, 8:], y[:, 8:])
    context = model.extend(model.empty(1), x, y)
    assert_same(copying.query(copied, xt), model.query(context, xt), "a copying cache")
    torch.testing.assert_close(copying.joint_log_prob(copied, xt, yt), model.joint_log_prob(context, xt, yt))
    assert copying.sample(copied, xt, 3).shape == (3, 4, 1)


@torch.no_grad()
def test_a_resumed_copy_holds_what_it_would_hold_and_learns_as_if_it_had_seen_it() -> None:
    model = toy_model("inctnp").float()
    x, y = toy_points(model, 6)
    copying = CopyingIncTNP(model)
    fed = copying.extend(None, x[None], y[None])
    resumed = copying.resumed(model.extend(model.empty(), x, y))
    assert resumed.nbytes == fed.nbytes
    rows = [copying.extend(c, x[None, :1], y[None, :1]).rows for c in (fed, resumed)]
    torch.testing.assert_close(*rows)
