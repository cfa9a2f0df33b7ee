"""Held-out scores against the exact posterior."""

from dataclasses import dataclass

import pytest
import torch

from inctnp.generators.gp import GPTasks
from inctnp.models.build import build
from inctnp.task import Task
from inctnp.training.validation import JOINT_BATCHES, JOINT_TASKS, Validator
from tests.training.conftest import tiny

SOURCE = GPTasks(batch_size=5, context=(2, 6), targets=7, shared_kernel=False, seed=8)


@pytest.mark.parametrize("name", ["cnp", "tnp-d", "inctnp-seq"])
def test_the_gap_and_the_score_add_up_to_the_optimum(name: str) -> None:
    model = build(tiny(model=name).model)
    score = Validator(SOURCE, 3).score(model)
    exact = torch.stack([SOURCE.batch(i).truth.factorised_log_prob(SOURCE.batch(i)).mean() for i in range(3)]).mean()
    assert score.log_likelihood + score.gap == pytest.approx(exact.item())


@dataclass(frozen=True)
class Oracle:
    """Answers as a model would, with the exact joint density."""

    def of(self, task: Task) -> float:
        joint = task.truth.joint_log_prob(task)[:JOINT_TASKS]
        return joint.mean().item() / task.xt.shape[-2]


def test_the_joint_gap_is_per_target_and_of_the_same_few_tasks() -> None:
    model = build(tiny().model)
    with torch.no_grad():
        expected = []
        for i in range(JOINT_BATCHES):
            task = SOURCE.batch(i)
            few = [part[:JOINT_TASKS] for part in (task.xc, task.yc, task.xt, task.yt)]
            ours = model.joint_log_prob(model.extend(model.empty(JOINT_TASKS), *few[:2]), *few[2:])
            expected.append(Oracle().of(task) - ours.mean().item() / 7)
    score = Validator(SOURCE, 3).score(model)
    assert score.joint_gap == pytest.approx(sum(expected) / JOINT_BATCHES, abs=1e-5)


def test_without_a_truth_there_is_no_gap() -> None:
    chosen = tiny(setting="tabular")
    score = Validator(chosen.validation, 2).score(build(chosen.model))
    assert (score.gap, score.joint_gap) == (None, None)


def test_scoring_is_in_the_models_own_precision() -> None:
    seen = set()
    model = build(tiny().model)
    model.decoder.register_forward_hook(lambda module, inputs, output: seen.add(output.mean.dtype))
    Validator(SOURCE, 1).score(model)
    assert seen == {torch.float32}
