"""Recipes as JSON and back."""

import json

import pytest
import torch

from inctnp.errors import StateError
from inctnp.generators.gp import GPTasks
from inctnp.generators.tables import Table, TableTasks
from inctnp.training.plain import flatten, from_plain, to_plain
from inctnp.training.recipe import Phase, Recipe, Start
from tests.training.conftest import tiny


def test_json_and_back_is_the_same_recipe() -> None:
    for chosen in (tiny(), tiny(setting="tabular"), tiny(setting="stations-france")):
        assert from_plain(Recipe, json.loads(json.dumps(chosen.as_dict()))) == chosen


def test_optional_groups_come_back() -> None:
    plain = {**tiny().as_dict(), "start": {"name": "a", "sha256": "b"}}
    assert from_plain(Recipe, plain).start == Start(name="a", sha256="b")


def test_a_users_rows_are_named_by_their_content_and_never_written() -> None:
    def plain(value: float) -> object:
        table = Table(name="own", x=torch.full((9, 1), value), y=torch.zeros(9, 1), features=("a",))
        return to_plain(Phase(share=1.0, data=TableTasks(table=table, context=(2, 3), targets=2)))

    assert plain(1.0) == plain(1.0) != plain(2.0)
    assert flatten(plain(1.0))["data.table.x.shape.0"] == 9
    with pytest.raises(StateError, match="data of the user"):
        from_plain(Phase, plain(1.0))


def test_settings_of_a_newer_version_are_refused() -> None:
    with pytest.raises(StateError, match="no setting warp"):
        from_plain(GPTasks, {**to_plain(GPTasks()), "warp": 3})
