"""Learning rates against the paper's formula, written out."""

import math

import pytest

from inctnp.models.build import build
from inctnp.training.loop import set_rates
from inctnp.training.optimisers import build_optimisers
from inctnp.training.recipes import recipe
from inctnp.training.schedule import SCHEDULES, trapezoid, warmup_cosine
from tests.training.conftest import tiny


def published(step: int, steps: int, peak: float) -> float:
    """Linear over the first 10 %, then half a cosine down to 1e-6."""
    warmup = steps // 10
    if step < warmup:
        return peak * step / warmup
    share = (step - warmup) / (steps - warmup)
    return 1e-6 + (peak - 1e-6) * (1 + math.cos(math.pi * share)) / 2


@pytest.mark.parametrize("step", [0, 1, 9_999, 19_999, 20_000, 20_001, 77_777, 199_999])
def test_the_paper_recipe_follows_the_papers_formula(step: int) -> None:
    chosen = recipe("rbf-64", "inctnp-seq", "paper")
    optimisers = build_optimisers(build(tiny().model), chosen.optimisation)
    rate = set_rates(optimisers, chosen, step)
    assert rate == pytest.approx(published(step, 200_000, 3e-4), rel=1e-12, abs=1e-18)
    assert optimisers[0].param_groups[0]["lr"] == rate


def test_a_budget_stretches_the_schedule() -> None:
    whole, half = recipe("rbf-64", "cnp", "paper"), recipe("rbf-64", "cnp", "paper", 0.5)
    optimisers = build_optimisers(build(tiny().model), whole.optimisation)
    for share in (0.05, 0.1, 0.6, 0.999):
        rates = [set_rates(optimisers, each, round(share * each.steps)) for each in (whole, half)]
        assert rates[0] == pytest.approx(rates[1], rel=1e-9)


def test_both_optimisers_move_together() -> None:
    chosen = tiny("steps=100")
    optimisers = build_optimisers(build(chosen.model), chosen.optimisation)
    for step in (0, 1, 50, 80, 99):
        set_rates(optimisers, chosen, step)
        adam, muon = (optimiser.param_groups[0]["lr"] for optimiser in optimisers)
        assert muon == pytest.approx(4 * adam)


def test_schedules_never_leave_the_unit_interval() -> None:
    for schedule in SCHEDULES.values():
        assert all(0 <= schedule(step, 50, 0.1, 0.01) <= 1 for step in range(52))
    assert warmup_cosine(5, 50, 0.0) < 1 == warmup_cosine(0, 50, 0.0)
    assert trapezoid(0, 50, 0.0) == 1
