"""Settings changed by name on the command line."""

from dataclasses import replace

import pytest

from inctnp.errors import ConfigError, IncTNPError, UnknownNameError
from inctnp.training.overrides import override, parse
from inctnp.training.recipes import recipe

GP, TABULAR = recipe("rbf-64", "inctnp-seq"), recipe("tabular", "inctnp-seq")


def test_every_kind_of_setting_can_be_changed() -> None:
    only = TABULAR.phases[0]
    three_phases = replace(TABULAR, phases=tuple(replace(only, share=share) for share in (0.5, 0.3, 0.2)))
    changed = override(
        three_phases,
        [
            "optimisation.rate=0.002",
            "steps=7",
            "precision=32-true",
            "model.prior=false",
            "phases.1.data.context=10,64",
            "phases.*.data.batch_size=4",
            "phases.0.data.samplings=normal, uniform",
            "phases.2.data.noise.std=0.1,0.2",
            "validation.context=[3, 9]",
        ],
    )
    assert (changed.optimisation.rate, changed.steps, changed.precision) == (0.002, 7, "32-true")
    assert changed.model.prior is False
    assert [phase.data.context for phase in changed.phases] == [(10, 1024), (10, 64), (10, 1024)]
    assert {phase.data.batch_size for phase in changed.phases} == {4}
    assert changed.phases[0].data.samplings == ("normal", "uniform")
    assert changed.phases[2].data.noise.std == (0.1, 0.2)
    assert changed.validation.context == (3, 9)
    assert TABULAR.steps == 60_000  # the recipe itself is a value


def test_nested_lists_and_nothing_are_written_as_json_and_none() -> None:
    changed = override(GP, ["model.grids=[[1, 2.5]]", "start=none"])
    assert changed.model.grids == ((1.0, 2.5),)
    assert changed.start is None
    assert parse(int | None, "3", "x") == 3


@pytest.mark.parametrize(
    ("change", "nearest"),
    [
        ("optimisation.ratee=1", "rate"),
        ("optimization.rate=1", "optimisation"),
        ("phases.0.data.contxt=1,2", "context"),
        ("model.layer=2", "layers"),
    ],
)
def test_unknown_settings_are_answered_with_the_nearest(change: str, nearest: str) -> None:
    with pytest.raises(UnknownNameError, match=f"Did you mean '{nearest}'"):
        override(GP, [change])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("steps", "path=value"),
        ("=3", "path=value"),
        ("steps=many", "takes int"),
        ("steps=1.5", "takes int"),
        ("optimisation.rate=fast", "takes float"),
        ("model.prior=yes", "takes bool"),
        ("phases.0.data.context=1", "takes 2 values, not 1"),
        ("phases.0.data.context=[1,", "JSON list"),
        ("phases.0.data.context=a,b", "takes int"),
        ("phases.3.data.seed=1", "from 0 to 0"),
        ("phases.0=1", "name a setting"),
        ("model=big", "is a group: set one of width"),
        ("steps.more=1", "no settings below"),
        ("phases.0.data.context=64,1", "low <= high"),
    ],
)
def test_values_that_do_not_fit_are_refused_in_words(change: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        override(GP, [change])


def test_every_refusal_is_one_of_ours() -> None:
    for change in ("optimisation.schedule=cosin", "model.name=tnp", "phases.0.data.families=rbg"):
        with pytest.raises(IncTNPError):
            override(GP, [change])
