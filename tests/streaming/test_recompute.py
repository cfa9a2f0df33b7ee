"""The slow path itself, against sums written by hand."""

import torch

from inctnp.streaming.recompute import joint_log_prob_step_by_step, query_from_scratch, sample_step_by_step
from inctnp.testing.checks import assert_close
from inctnp.testing.toy import toy_model, toy_points


@torch.no_grad()
def test_the_slow_paths_do_what_they_say() -> None:
    model = toy_model("tnp-d")
    x, y = toy_points(model, 4)
    xt, yt = toy_points(model, 2, seed=1)
    first = query_from_scratch(model, x, y, xt[:1])
    second = query_from_scratch(model, torch.cat([x, xt[:1]]), torch.cat([y, yt[:1]]), xt[1:])
    total = first.log_prob(yt[:1]).sum() + second.log_prob(yt[1:]).sum()
    assert_close(joint_log_prob_step_by_step(model, x, y, xt, yt), total, "joint log-density")

    drawn = sample_step_by_step(model, x, y, xt, 1, torch.Generator().manual_seed(0))[0]
    rng = torch.Generator().manual_seed(0)
    one = first.mean + first.stddev * torch.randn(1, 1, 1, generator=rng, dtype=torch.float64)[0]
    after = query_from_scratch(model, torch.cat([x, xt[:1]]), torch.cat([y, one]), xt[1:])
    two = after.mean + after.stddev * torch.randn(1, 1, 1, generator=rng, dtype=torch.float64)[0]
    assert_close(drawn, torch.cat([one, two]), "one draw")
