"""Shipped models by name."""

import pytest

import inctnp
from inctnp.errors import UnknownNameError
from inctnp.pretrained import registry


def test_every_shipped_model_loads_and_says_its_name() -> None:
    for name in inctnp.model_names():
        model = inctnp.load(name)
        assert model.identity == name and not model.training


def test_a_near_miss_is_answered_with_what_was_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "names", lambda: ["rbf-64/inctnp-seq", "rbf-64/tnp-d"])
    with pytest.raises(UnknownNameError, match=r"Did you mean 'rbf-64/inctnp-seq'\?.*rbf-64/tnp-d"):
        inctnp.load("rbf64/inctnp-seq")
