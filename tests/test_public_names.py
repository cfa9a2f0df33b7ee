"""What `import inctnp` offers."""

import pytest

import inctnp


def test_every_public_name_is_there_and_listed() -> None:
    assert sorted(inctnp._HOMES) == sorted(inctnp.__all__)
    for name in inctnp.__all__:
        value = getattr(inctnp, name)
        assert value.__module__.startswith("inctnp.")
        assert value.__name__ == inctnp._HOMES[name].rpartition(":")[2]
    assert set(inctnp.__all__) < set(dir(inctnp))


def test_a_name_that_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Strem'"):
        inctnp.Strem  # noqa: B018
