"""A run is a function of its recipe, however often it was interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import pytest
import torch

from inctnp.errors import StateError, StorageError
from inctnp.generators.base import TaskGenerator
from inctnp.generators.gp import GPTasks
from inctnp.pretrained.weights import save_pretrained, tensors_hash, weights_hash
from inctnp.task import Task
from inctnp.training.checkpoint import read_checkpoint
from inctnp.training.loop import Training, agree, fresh_model
from inctnp.training.progress import DivergenceError, Measurement
from inctnp.training.recipe import Phase, Start
from tests.training.conftest import tiny, without_times

Make = Callable[..., Training]


def left_behind(training: Training) -> tuple[object, ...]:
    """Everything a run leaves in its folder but the time it took: weights, optimisers, counters and rows."""
    header, tensors = read_checkpoint(training.folder.checkpoint)
    counters = {name: value for name, value in header["progress"].items() if not name.endswith("seconds")}
    return tensors_hash(tensors), counters, [without_times(row) for row in training.folder.rows()]


@pytest.mark.parametrize("variant", ["fast", "paper"])
@pytest.mark.parametrize("cuts", [(1,), (4,), (5, 7, 11)])
def test_a_run_in_pieces_equals_an_unbroken_one(
    training: Make, unbroken: Callable[[str], tuple[object, ...]], cuts: tuple[int, ...], variant: str
) -> None:
    chosen = tiny(variant=variant)
    for cut in cuts:
        training(chosen, "pieces").run(cut)
    training(chosen, "pieces").run()
    assert left_behind(training(chosen, "pieces")) == unbroken(variant)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[object, ...]]:
    """What a run leaves that nothing interrupted."""

    @lru_cache
    def whole(variant: str) -> tuple[object, ...]:
        run = Training(recipe=tiny(variant=variant), directory=tmp_path_factory.mktemp(variant), every=4)
        run.run()
        return left_behind(run)

    return whole


def test_a_killed_process_costs_only_what_came_after_its_last_checkpoint(training: Make) -> None:
    chosen, killed = tiny("steps=400"), training(tiny("steps=400"), "killed", every=20)
    script = (
        "import torch; torch.set_num_threads(1)\n"
        "from pathlib import Path\n"
        "from inctnp.training.loop import Training\n"
        "from tests.training.conftest import tiny\n"
        f"Training(recipe=tiny('steps=400'), directory=Path({str(killed.directory)!r}), every=20, save_seconds=0).run()"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parents[2]) as process:
        deadline = time.monotonic() + 60
        while killed.folder.step() < 5 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        process.kill()
    at = killed.folder.step()
    assert 5 <= at < 400
    killed.run(at + 20)
    training(chosen, "whole", every=20).run(at + 20)
    assert left_behind(killed) == left_behind(training(chosen, "whole"))


def test_rows_of_steps_that_are_taken_again_are_not_told_twice(training: Make) -> None:
    run = training(tiny())
    run.run(9)
    with run.folder.metrics.open("a") as file:  # as if it had gone on to 12 and crashed while writing
        file.write(json.dumps({"step": 12}) + "\n" + '{"step": 1')
    run.run()
    assert [row["step"] for row in run.folder.rows()] == [4, 8, 12]


def test_a_signal_ends_the_run_after_the_step_at_hand(
    training: Make, unbroken: Callable[[str], tuple[object, ...]]
) -> None:
    run = training(tiny())
    run.tick = lambda report: os.kill(os.getpid(), signal.SIGTERM) if report.step == 6 else None
    before = signal.getsignal(signal.SIGTERM)
    run.run()
    assert run.stopped_by == signal.SIGTERM
    assert run.folder.step() == 6
    assert signal.getsignal(signal.SIGTERM) is before
    assert not run.complete
    run.tick = lambda report: None
    run.run()
    assert run.complete
    assert left_behind(run) == unbroken("fast")


def test_training_leaves_the_callers_random_numbers_alone(training: Make) -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    training(tiny("steps=2")).run()
    assert torch.equal(torch.rand(2), expected)


GOOD = GPTasks(batch_size=2, context=(3, 5), targets=4)


@dataclass(frozen=True, kw_only=True)
class SometimesBroken(TaskGenerator):
    """Functions of a GP, some of whose batches hold a NaN."""

    broken: tuple[int, ...] = ()

    def batch(self, step: int) -> Task:
        task = GOOD.batch(step)
        return task.map(lambda tensor: tensor * torch.nan) if step in self.broken else task

    def draw(self, rng: torch.Generator) -> Task:
        return GOOD.draw(rng)


def with_broken(*steps: int) -> object:
    return replace(tiny("steps=40"), phases=(Phase(share=1.0, data=SometimesBroken(broken=steps)),))


def test_a_loss_that_is_not_finite_moves_nothing_and_is_counted(training: Make) -> None:
    run = training(with_broken(2, 3))
    before, after = weights_hash(run.run(2)), weights_hash(run.run(4))
    assert before == after
    assert weights_hash(run.run(5)) != after
    assert all(torch.isfinite(weight).all() for weight in run.run(8).parameters())
    assert run.folder.rows()[-1]["skipped"] == 2


def test_a_loss_that_stays_so_ends_the_run_with_a_diagnosis(training: Make) -> None:
    run = training(with_broken(*range(5, 40)), save_seconds=0)
    with pytest.raises(DivergenceError, match=r"up to step 25.*data themselves are not finite \(xc, yc, xt, yt\)"):
        run.run()
    header, tensors = read_checkpoint(run.folder.checkpoint)
    assert header["progress"]["step"] <= 25
    assert all(torch.isfinite(tensor).all() for tensor in tensors.values())


def test_settings_that_differ_from_the_runs_are_named(training: Make) -> None:
    training(tiny()).run(2)
    with pytest.raises(StateError, match=r"optimisation\.rate \(0\.001 there, 0\.002 here\)"):
        training(tiny("optimisation.rate=0.002")).run()
    with pytest.raises(StateError, match="batches_per_step"):
        training(tiny("batches_per_step=2")).run()


def test_two_processes_never_train_one_run(training: Make) -> None:
    run = training(tiny())
    run.run(1)
    with run.folder.held(), pytest.raises(StateError, match="Another process"):
        run.run()


def test_a_folder_that_cannot_be_written_to_is_said_before_training() -> None:
    told: list[object] = []
    with pytest.raises(StorageError, match="Choose another --directory"):
        Training(recipe=tiny(), directory=Path("/proc/no/run"), tick=told.append).run()
    assert not told


def test_a_full_disk_leaves_the_checkpoint_before(training: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    run = training(tiny())
    run.run(5)
    good = run.folder.checkpoint.read_bytes()

    def full(tensors: object, part: Path, metadata: object) -> None:
        part.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("inctnp.training.checkpoint.save_file", full)
    with pytest.raises(StorageError, match=r"No space left.*before it is intact"):
        run.run()
    assert run.folder.checkpoint.read_bytes() == good
    assert not list(run.directory.glob(".checkpoint*"))


def test_measurements_are_rows_of_their_own_steps(training: Make) -> None:
    steps = Measurement("weights", 6, lambda model: float(sum(1 for _ in model.parameters())))
    run = training(tiny(), measurements=(steps,))
    run.run()
    told = {row["step"]: "weights" in row for row in run.folder.rows()}
    assert told == {4: False, 6: True, 8: False, 12: True}
    assert "log_likelihood" not in run.folder.rows()[1]


def test_a_run_may_begin_with_trained_weights(training: Make, tmp_path: Path) -> None:
    model = training(tiny("steps=3"), "first").run()
    save_pretrained(model, tmp_path / "weights")
    start = Start(name=str(tmp_path / "weights"), sha256=weights_hash(model))
    chosen = replace(tiny("steps=3"), start=start)
    assert weights_hash(fresh_model(chosen)) == weights_hash(model)
    assert weights_hash(training(chosen, "second").run()) != weights_hash(model)
    with pytest.raises(StateError, match="not the ones"):
        fresh_model(replace(chosen, start=replace(start, sha256="other")))


def test_200_steps_beat_a_constant_predictor(training: Make) -> None:
    sizes = [f"{where}.{size}" for where in ("phases.*.data", "validation") for size in ("context=1,24", "targets=32")]
    more = ["validation.batch_size=16", "validation_batches=16"]
    chosen = tiny("model.width=32", "steps=200", "optimisation.rate=0.003", *sizes, *more)
    run = training(chosen, every=200)
    run.run()
    # The best constant: a Gaussian of the process's own variance, 1 + 0.1².
    constant = torch.stack([constant_score(chosen.validation.batch(i)) for i in range(16)]).mean().item()
    assert run.folder.rows()[-1]["log_likelihood"] > constant + 0.1


def constant_score(task: Task) -> torch.Tensor:
    return torch.distributions.Normal(0.0, 1.01**0.5).log_prob(task.yt).double().mean()


class TwoProcesses:
    """What `agree` needs of Fabric, as seen by a process whose partner received SIGTERM."""

    world_size, device = 2, torch.device("cpu")

    def all_reduce(self, value: torch.Tensor, reduce_op: str) -> torch.Tensor:
        others = torch.tensor(3.0) if reduce_op == "mean" else torch.tensor(signal.SIGTERM)
        pair = torch.stack([value.double(), others.double()])
        return pair.mean() if reduce_op == "mean" else pair.max()


def test_processes_agree_on_the_loss_and_on_stopping() -> None:
    agreed = agree.__wrapped__ if hasattr(agree, "__wrapped__") else agree
    assert agreed(TwoProcesses(), 1.0, 0) == (2.0, signal.SIGTERM)


def test_while_the_rate_is_flat_a_run_can_be_made_longer_or_shorter(training: Make) -> None:
    """Its later steps are those of a run that had this length from the start, after a warm-up of the same steps."""
    flat = ("optimisation.warmup=0", "optimisation.schedule=trapezoid")
    for begun, wanted in ((20, 12), (12, 20)):
        training(tiny(*flat, f"steps={begun}"), f"{begun}").run(6)
        changed = training(tiny(*flat, f"steps={wanted}"), f"{begun}")
        changed.run()
        whole = training(tiny(*flat, f"steps={wanted}"), f"whole {wanted}")
        whole.run()
        assert left_behind(changed) == left_behind(whole)
        assert json.loads(changed.folder.settings.read_text())["recipe"]["steps"] == wanted


@pytest.mark.parametrize("taken", [2, 9])
def test_in_warm_up_and_descent_its_length_stays(training: Make, taken: int) -> None:
    sloped = ("optimisation.warmup=0.3", "optimisation.schedule=trapezoid")
    training(tiny(*sloped)).run(taken)
    with pytest.raises(StateError, match=r"steps \(12 there, 16 here\)"):
        training(tiny(*sloped, "steps=16")).run()
