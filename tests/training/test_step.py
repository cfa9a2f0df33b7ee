"""One step: averaging batches, and low precision beside float32."""

from collections.abc import Sequence

import pytest
import torch
from lightning_fabric import Fabric

from inctnp.models.base import NeuralProcess
from inctnp.models.build import build
from inctnp.models.config import NAMES, ModelConfig
from inctnp.task import Task
from inctnp.training.recipe import Recipe
from inctnp.training.step import Objective, one_step
from tests.training.conftest import tiny


def gradients(model: NeuralProcess, precision: str, tasks: Sequence[Task]) -> tuple[float, torch.Tensor]:
    """Mean loss and flat, unclipped gradient."""
    fabric = Fabric(accelerator="cpu", devices=1)
    loss = one_step(fabric, fabric.setup(Objective(model, precision)), [], tasks, clip=1e9)
    return loss, torch.cat([weight.grad.flatten() for weight in model.parameters()])


def fresh(chosen: Recipe) -> NeuralProcess:
    torch.manual_seed(0)
    return build(chosen.model)


def test_several_batches_move_along_their_mean_gradient() -> None:
    chosen = tiny()
    tasks = [chosen.phases[0].data.batch(i) for i in range(3)]
    alone = [gradients(fresh(chosen), "32-true", [task]) for task in tasks]
    loss, gradient = gradients(fresh(chosen), "32-true", tasks)
    assert loss == pytest.approx(sum(each for each, _ in alone) / 3, rel=1e-6)
    torch.testing.assert_close(gradient, torch.stack([each for _, each in alone]).mean(dim=0))


@pytest.mark.parametrize("name", NAMES)
def test_low_precision_steps_nearly_as_float32_does(name: str) -> None:
    chosen = tiny("phases.*.data.context=16,32", "phases.*.data.targets=32", model=name)
    task = chosen.phases[0].data.batch(0)
    exact, expected = gradients(fresh(chosen), "32-true", [task])
    loss, gradient = gradients(fresh(chosen), "bf16-mixed", [task])
    assert loss == pytest.approx(exact, abs=5e-3)
    assert gradient.dtype == torch.float32  # of the float32 masters
    assert torch.cosine_similarity(gradient, expected, dim=0) > 0.995


def test_the_gradient_is_clipped_to_its_norm() -> None:
    model, fabric = build(ModelConfig(name="cnp", dim_x=1, width=16, heads=2)), Fabric(accelerator="cpu", devices=1)
    one_step(fabric, fabric.setup(Objective(model, "32-true")), [], [tiny().phases[0].data.batch(0)], clip=1e-3)
    norm = torch.cat([weight.grad.flatten() for weight in model.parameters()]).norm()
    assert norm == pytest.approx(1e-3, rel=1e-3)
