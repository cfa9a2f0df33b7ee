"""A recipe as a value: phases, checks and its hash."""

from dataclasses import replace

import pytest

from inctnp.errors import ConfigError, UnknownNameError
from inctnp.training.recipe import Optimisation, Phase, Start
from tests.training.conftest import tiny


def test_phases_follow_each_other() -> None:
    chosen = tiny("steps=100")
    data = chosen.phases[0].data
    phases = tuple(
        Phase(share=share, data=replace(data, context=(2, n))) for share, n in ((0.5, 3), (0.3, 4), (0.2, 5))
    )
    chosen = replace(chosen, phases=phases)
    longest = [chosen.data_at(step).context[1] for step in (0, 49, 50, 79, 80, 99, 100)]
    assert longest == [3, 3, 4, 4, 5, 5, 5]


def test_the_hash_sees_every_setting_and_none_that_is_at_its_default() -> None:
    chosen = tiny()
    others = [
        tiny("seed=1"),
        tiny("batches_per_step=2"),
        tiny("phases.0.data.noise=0.2"),
        tiny("optimisation.warmup=0.03"),
        replace(chosen, start=Start(name="a", sha256="b")),
        tiny(setting="tabular"),
    ]
    assert len({chosen.hash, *(other.hash for other in others)}) == 7
    assert tiny("batches_per_step=1").hash == chosen.hash


@pytest.mark.parametrize("change", ["steps=0", "phases.0.share=0.5", "batches_per_step=0", "optimisation.rate=0"])
def test_contradictions_are_refused(change: str) -> None:
    with pytest.raises(ConfigError):
        tiny(change)


def test_unknown_schedules_and_precisions_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="'cosine'"):
        Optimisation(schedule="cosin")
    with pytest.raises(UnknownNameError, match="'bf16-mixed'"):
        tiny("precision=bf16-mix")
    with pytest.raises(ConfigError, match="warmup"):
        Optimisation(warmup=1.0)
