"""The examples run, and what they say came out comes out."""

import re
import runpy
from pathlib import Path

import pytest
import torch

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
NUMBER = r"([-+]?\d+\.?\d*)"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def started(name: str) -> str:
        state = torch.get_rng_state()
        runpy.run_path(str(EXAMPLES[0].with_name(f"{name}.py")), run_name="__main__")
        torch.set_rng_state(state)
        return capsys.readouterr().out

    return started


def found(pattern: str, text: str) -> list[float]:
    match = re.search(pattern.replace("#", NUMBER), text)
    assert match, text
    return [float(group) for group in match.groups()]


def test_faulty_readings_are_flagged(run) -> None:
    hits, faults, false = found(r"# of # faults found, # false alarms", run("sensor_anomalies"))
    assert hits == faults == 4 and false <= 4


def test_the_forecast_beats_the_rules_of_thumb(run) -> None:
    text = run("energy_forecast")
    ours, hour, day = (found(rf"{name} +root mean square error +#", text)[0] for name in ("inctnp", "ago", "yesterday"))
    assert ours < min(hour, day)
    assert 85 < found(r"#% of the outcomes", text)[0] < 97


def test_measuring_where_little_is_known_pays(run) -> None:
    text = run("active_learning")
    assert found("by variance +#", text)[0] < found("by chance +#", text)[0]


def test_a_fork_tells_plans_apart_and_leaves_the_stream(run) -> None:
    text = run("what_if")
    half, full = (found(rf"{plan} speed: #", text)[0] for plan in ("half", "full"))
    assert half + 5 < full and found("learned # rows, the stream #", text) == [241, 240]


def test_a_model_learns_a_simulator(run) -> None:
    text = run("own_simulator")
    assert found("trained +# nats a point after", text)[0] > found("untrained +#", text)[0] + 0.3


def test_every_example_is_tried() -> None:
    tried = Path(__file__).read_text()
    assert [each.stem for each in EXAMPLES if f'run("{each.stem}")' not in tried] == []
