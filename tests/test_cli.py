"""The command line as a whole."""

import subprocess
import sys
from importlib import metadata

import pytest
from typer.testing import CliRunner, Result

import inctnp
from inctnp.cli import app

COMMANDS = ["stream", "predict", "inspect", "models", "train", "export", "demo"]


def typed(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_the_version_is_that_of_the_package() -> None:
    assert typed("--version").output == f"inctnp {inctnp.__version__}\n"
    assert inctnp.__version__ == metadata.version("inctnp")


@pytest.mark.parametrize("asked", ["-h", "--help"])
def test_help_names_every_command(asked: str) -> None:
    result = typed(asked)
    assert result.exit_code == 0
    for command in COMMANDS:
        assert command in result.output
        assert typed(command, asked).exit_code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["strem"], "stream"),
        (["stream", "a.csv", "--targt", "y"], "--target"),
        (["stream", "a.csv"], "--target"),
        (["inspect"], "STATE"),
        (["--verson"], "--version"),
    ],
)
def test_a_slip_of_the_hand_ends_with_status_2_and_the_nearest_right_word(words: list[str], told: str) -> None:
    result = typed(*words)
    assert result.exit_code == 2
    assert told in result.stderr


def test_shells_can_complete_commands_and_names_of_models() -> None:
    asked = {"_INCTNP_COMPLETE": "complete_bash", "COMP_WORDS": "inctnp stre", "COMP_CWORD": "1"}
    assert CliRunner().invoke(app, [], env=asked, prog_name="inctnp").output.split() == ["stream"]
    asked |= {"COMP_WORDS": "inctnp stream --model rbf", "COMP_CWORD": "3"}
    assert "rbf-64/inctnp-seq" in CliRunner().invoke(app, [], env=asked, prog_name="inctnp").output.split()


def test_models_are_listed_for_people_and_for_programs() -> None:
    import json

    assert "rbf-64/inctnp-seq" in typed("models").output
    listed = json.loads(typed("models", "--json").output)
    assert [model["name"] for model in listed] == inctnp.model_names()
    assert all(model["megabytes"] > 0 for model in listed)


def test_help_does_not_wait_for_the_numerical_libraries() -> None:
    code = "import sys, inctnp.cli; sys.exit(any(name in sys.modules for name in ('torch', 'numpy', 'river')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
