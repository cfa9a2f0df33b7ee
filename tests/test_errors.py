"""One tree of errors, each also what a stranger would catch."""

import inspect

from inctnp import errors


def test_every_error_is_ours_and_a_built_in_one() -> None:
    leaves = [e for _, e in inspect.getmembers(errors, inspect.isclass) if e is not errors.IncTNPError]
    assert len(leaves) >= 9
    for leaf in leaves:
        assert issubclass(leaf, errors.IncTNPError)
        assert issubclass(leaf, ValueError | TypeError | KeyError | OSError), leaf


def test_an_unknown_name_is_told_without_the_quotes_of_a_key_error() -> None:
    assert str(errors.UnknownNameError("No model is called 'x'.")) == "No model is called 'x'."
