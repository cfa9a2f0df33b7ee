"""Sweeps and runs that are part of a measurement."""

import math
from typing import Any

import pytest
import torch

from inctnp.paper.fig2_robustness import RBF, tiny
from inctnp.paper.results import Results
from inctnp.paper.robustness import EQUAL_COMPUTE, EQUAL_STEPS, longer, measure, peaks, spread
from inctnp.paper.short_runs import Reduction, folder_of, reduced_recipe, trained
from inctnp.training.progress import DivergenceError

TINY = Reduction(steps=4, network={"width": 8, "heads": 2, "layers": 1}, tasks={"batch_size": 2, "targets": 4})


def configuration(values: list[float | None], rate: float, budget: str = EQUAL_STEPS) -> dict[str, Any]:
    return {"labels": {"model": "cnp", "rate": rate, "budget": budget}, "setup": {}, "values": {"ll": values}}


def test_a_run_that_diverged_is_below_all_others() -> None:
    results = Results(
        (
            configuration([1.0, 3.0], 1e-3),
            configuration([None, None], 1e-1),
            configuration([5.0, 5.0], 1e-3, EQUAL_COMPUTE),
        )
    )
    assert peaks(results, "cnp") == [2.0, -math.inf]
    assert peaks(results, "cnp", EQUAL_COMPUTE) == [5.0]
    assert spread(peaks(results, "cnp"))[0] == -math.inf


@pytest.mark.parametrize(("model", "ratio"), [("tnp-d", 1.1), ("inctnp", 1.1), ("inctnp-seq", 1.0)])
def test_equal_compute_is_the_papers_ratio(model: str, ratio: float) -> None:
    assert longer(RBF, model) == pytest.approx(ratio)


def test_training_that_stops_on_the_way_ends_with_the_same_weights() -> None:
    chosen = reduced_recipe("rbf-64", "inctnp-seq", TINY, rate=1e-3, schedule="cosine")
    trained(chosen, 2)
    assert folder_of(chosen).step() == 2
    in_two = trained(chosen, 4).state_dict()
    folder_of(chosen).set_aside()
    at_once = trained(chosen, 4).state_dict()
    assert all(torch.equal(in_two[name], at_once[name]) for name in at_once)


def test_a_later_checkpoint_is_not_taken_for_an_earlier_one() -> None:
    chosen = reduced_recipe("rbf-64", "tnp-d", TINY, rate=1e-3, schedule="constant")
    early = trained(chosen, 1).state_dict()
    trained(chosen, 3)
    again = trained(chosen, 1).state_dict()
    assert all(torch.equal(early[name], again[name]) for name in early)


def test_a_run_leaves_its_score_and_no_files() -> None:
    sweep = tiny(RBF)
    chosen = reduced_recipe("rbf-64", "cnp", sweep.reduction, rate=1e-3, schedule="cosine")
    assert len(measure(chosen, 2)["ll"]) == 2  # type: ignore[arg-type]
    assert not folder_of(chosen).path.exists()


def test_divergence_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def diverge(chosen: object, steps: int) -> None:
        raise DivergenceError("not finite")

    monkeypatch.setattr("inctnp.paper.robustness.trained", diverge)
    chosen = reduced_recipe("rbf-64", "cnp", TINY, rate=1.0, schedule="constant")
    assert all(math.isnan(value) for value in measure(chosen, 3)["ll"])  # type: ignore[union-attr]
