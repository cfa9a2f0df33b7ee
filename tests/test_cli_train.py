"""`inctnp train` and `inctnp export` as they are typed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner, Result

import inctnp
from inctnp.cli import app
from inctnp.models.build import build
from inctnp.models.config import ModelConfig
from inctnp.pretrained.weights import save_pretrained
from inctnp.training.checkpoint import read_checkpoint
from inctnp.training.run_directory import RunDirectory

SMALL = [
    *("model.width=16", "model.heads=2", "model.layers=1", "validation_batches=1", "precision=32-true"),
    *("phases.*.data.batch_size=2", "phases.*.data.targets=6", "validation.batch_size=2", "validation.targets=6"),
]
OPTIONS = [word for change in SMALL for word in ("--set", change)]
ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INCTNP_CACHE", str(tmp_path / "cache"))


def typed(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def weights(directory: Path) -> dict[str, torch.Tensor]:
    tensors = read_checkpoint(RunDirectory(directory).checkpoint)[1]
    return {name: tensor for name, tensor in tensors.items() if name.startswith("model.")}


def test_a_run_is_trained_resumed_and_exported(tmp_path: Path) -> None:
    options = ["train", "rbf-64", *OPTIONS, "--set", "steps=6", "--validate-every", "3", "--gnsr-every", "6"]
    result = typed(*options)
    assert result.exit_code == 0, result.output
    assert "starting from step 0" in result.output
    assert "gnsr" in result.output
    (directory,) = (tmp_path / "cache" / "runs" / "rbf-64-fast").iterdir()
    assert directory.name.startswith("inctnp-seq-")
    assert f"run {directory}" in result.output
    again = typed(*options)
    assert "going on from step 6" in again.output
    exported = typed("export", str(directory), "--to", str(tmp_path / "model"), "--dtype", "bfloat16", "--batches", "1")
    assert exported.exit_code == 0, exported.output
    assert "change by storing" in exported.output
    assert inctnp.load(str(tmp_path / "model")).config.width == 16


def test_fresh_sets_the_earlier_run_aside(tmp_path: Path) -> None:
    options = ["train", "rbf-64", *OPTIONS, "--set", "steps=2", "--directory", str(tmp_path / "run")]
    typed(*options)
    result = typed(*options, "--fresh")
    assert "starting from step 0" in result.output
    assert RunDirectory(tmp_path / "run.before-1").step() == 2
    assert [row["step"] for row in RunDirectory(tmp_path / "run").rows()] == [2]


def test_a_seed_means_other_weights_and_other_tasks(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        words = ["train", "rbf-64", *OPTIONS, "--set", "steps=1", "--seed", seed, "--directory", str(tmp_path / seed)]
        assert typed(*words).exit_code == 0
    first, second = weights(tmp_path / "1"), weights(tmp_path / "2")
    assert not all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["rbf-63"], "Did you mean 'rbf-64'"),
        (["rbf-64", "--model", "inctnp-sec"], "Did you mean 'inctnp-seq'"),
        (["rbf-64", "--variant", "papper"], "Did you mean 'paper'"),
        (["rbf-64", "--set", "optimisation.rat=1"], "Did you mean 'rate'"),
        (["rbf-64", "--set", "steps=few"], "takes int"),
        (["rbf-64", "--budget", "0"], "positive"),
        (["rbf-64", "--directory", "/proc/none/run"], "Choose another --directory"),
        (["finetune", "--data", "none.csv", "--target", "y"], "none.csv"),
    ],
)
def test_mistakes_end_with_our_message_and_status_2(words: list[str], told: str) -> None:
    result = typed("train", *words)
    assert result.exit_code == 2
    assert told in result.output
    assert "Traceback" not in result.output


def test_help_shows_the_options_of_a_recipe_and_names_fine_tuning() -> None:
    text = typed("train", "--help").output
    assert "--validate-every" in text
    assert "finetune" in text
    assert "--target" in typed("train", "finetune", "--help").output


def test_fine_tuning_from_a_csv_file(tmp_path: Path) -> None:
    model = build(ModelConfig(name="inctnp-seq", dim_x=20, width=16, heads=2, layers=1, std_min=0.01, prior=True))
    save_pretrained(model, tmp_path / "start")
    rows = "\n".join(f"{i % 7},{i % 5},{i % 7 - i % 5}" for i in range(60))
    (tmp_path / "own.csv").write_text(f"a,b,y\n{rows}\n")
    words = ["--from", str(tmp_path / "start"), "--data", str(tmp_path / "own.csv"), "--target", "y", "--steps", "5"]
    result = typed("train", "finetune", *words, "--rate", "0.003", "--to", str(tmp_path / "end"))
    assert result.exit_code == 0, result.output
    assert "held-out rows:" in result.output
    assert inctnp.load(str(tmp_path / "end")).config == model.config


def process(directory: Path, *words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "inctnp", "train", "rbf-64", *OPTIONS, "--directory", str(directory), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)]
)
def test_a_signal_saves_and_says_how_to_go_on(tmp_path: Path, number: signal.Signals, status: int) -> None:
    directory = tmp_path / "run"
    with process(directory, "--save-every", "0") as run:
        deadline = time.monotonic() + 60
        while not RunDirectory(directory).step() and time.monotonic() < deadline and run.poll() is None:
            time.sleep(0.05)
        run.send_signal(number)
        output, errors = run.communicate(timeout=60)
    assert run.returncode == status, errors
    step = RunDirectory(directory).step()
    assert f"{number.name}: saved at step {step}. To go on: inctnp train rbf-64" in output
    assert f"--directory {directory}" in output


def test_two_processes_equal_one_that_averages_two_batches(tmp_path: Path) -> None:
    steps = ["--set", "steps=8", "--validate-every", "4"]
    with process(tmp_path / "two", *steps, "--devices", "2") as two:
        output, errors = two.communicate(timeout=120)
    assert two.returncode == 0, errors
    assert output.count("starting from step 0") == 1  # the first process speaks for all
    one = ["train", "rbf-64", *OPTIONS, *steps, "--set", "batches_per_step=2", "--directory", str(tmp_path / "one")]
    assert typed(*one).exit_code == 0
    expected, actual = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name, tensor in expected.items():
        torch.testing.assert_close(actual[name], tensor, rtol=1e-5, atol=1e-6)
    losses = [[row["loss"] for row in RunDirectory(tmp_path / name).rows()] for name in ("one", "two")]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert read_checkpoint(RunDirectory(tmp_path / "two").checkpoint)[0]["progress"]["batches"] == 16
