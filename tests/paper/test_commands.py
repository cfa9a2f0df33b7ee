"""`inctnp paper` as it is typed."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from inctnp.errors import ConfigError, MissingDataError, UnknownNameError
from inctnp.paper.commands import choose_cast, paper

app = typer.Typer()
app.command()(paper)


def test_names_are_listed() -> None:
    result = CliRunner().invoke(app, ["list"])
    assert result.output.split()[0] == "table1"
    assert "claims" in result.output.split()


def test_a_page_is_made_and_made_again_from_its_rows(tmp_path: Path) -> None:
    arguments = ["fig28", "--scale", "smoke", "--out", str(tmp_path), "--models", "inctnp-seq,cnp"]
    first = CliRunner().invoke(app, arguments)
    assert first.exit_code == 0, first.output
    assert "4 of 10 rows, 4 new" in first.output
    page = (tmp_path / "fig28.md").read_text(encoding="utf-8")
    assert "tnp-d was left out by --models" in page
    (tmp_path / "fig28.png").unlink()
    again = CliRunner().invoke(app, [*arguments, "--draw-only", "--trim"])
    assert "0 rows dropped" in again.output
    assert "4 of 10 rows, 0 new" in again.output
    assert (tmp_path / "fig28.png").is_file()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (["fig99"], UnknownNameError, "No table or figure"),
        (["fig3", "--scale", "huge"], ConfigError, "smoke, cpu, paper"),
        (["fig3", "--models", "tnpd"], UnknownNameError, "Did you mean 'tnp-d'"),
        (["fig3", "--weights", "tnp-d=run"], ConfigError, "SETTING/MODEL=FOLDER"),
        (["fig28", "--weights", "rbf-64/tnp-d=nowhere"], MissingDataError, "holds no config"),
    ],
)
def test_mistakes_are_explained(arguments: list[str], error: type, words: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)])
    assert isinstance(result.exception, error)
    assert words in str(result.exception)
    assert not list(tmp_path.iterdir())


def test_weights_of_your_own_go_before_those_that_ship(tmp_path: Path) -> None:
    cast = choose_cast("cpu", [], [f"rbf-64/tnp-d={tmp_path}"])
    assert cast.folders == {"rbf-64/tnp-d": tmp_path}
