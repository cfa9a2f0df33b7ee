from pathlib import Path

import pytest
import torch

from inctnp.paper.cast import Cast
from inctnp.pretrained.registry import load
from inctnp.pretrained.weights import save_pretrained


def test_shipped_weights_are_found_by_name_and_known_by_their_hash() -> None:
    player = Cast().find("rbf-64", "inctnp-seq")
    assert player.trained
    assert len(player.origin) == 64
    shipped = load("rbf-64/inctnp-seq").state_dict()
    assert all(torch.equal(value, shipped[name]) for name, value in player.load().state_dict().items())


def test_weights_that_do_not_exist_block_and_say_how_to_get_them() -> None:
    player = Cast().find("mixed-512", "lbanp")
    assert "inctnp train mixed-512 --model" in player.blocked


def test_weights_of_your_own_are_other_weights(tmp_path: Path) -> None:
    model = Cast(stand_ins=True).find("mixed-512", "lbanp").load()
    save_pretrained(model, tmp_path)
    mine = Cast(folders={"mixed-512/lbanp": tmp_path}).find("mixed-512", "lbanp")
    assert mine.trained
    assert mine.origin != Cast().find("rbf-64", "inctnp-seq").origin


def test_stand_ins_are_the_same_every_time() -> None:
    cast = Cast(stand_ins=True)
    first, again = (cast.find("mixed-512", "tnp-d").load().state_dict() for _ in range(2))
    assert all(torch.equal(first[name], again[name]) for name in first)


@pytest.mark.parametrize("stand_ins", [True, False])
def test_models_that_were_left_out_are_not_run(stand_ins: bool) -> None:
    cast = Cast(stand_ins=stand_ins, only=frozenset({"cnp"}))
    assert "left out" in cast.find("rbf-64", "inctnp-seq").blocked
    assert "left out" in cast.baseline("wiski").blocked
    assert "left out" in cast.untrained("rbf-64", "tnp-d").blocked
    assert not cast.untrained("rbf-64", "cnp").blocked
