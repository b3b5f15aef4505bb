"""An error makes one sentence of what happened, to what, and the remedy."""

from __future__ import annotations

import pytest

from evergrid.model.errors import BrokenPromise, ConfigError, DataError, EvergridError, LinkError


@pytest.mark.parametrize(
    ("what", "where", "remedy", "sentence"),
    [
        ("no such file", "", "", "no such file"),
        ("no such file", "a.yaml", "", "a.yaml: no such file"),
        ("no such file", "a.yaml", "Create it.", "a.yaml: no such file. Create it."),
        ("It ended.", "", "Restart it.", "It ended. Restart it."),
    ],
)
def test_a_sentence_is_made_of_the_parts_given(
    what: str, where: str, remedy: str, sentence: str
) -> None:
    error = EvergridError(what, where=where, remedy=remedy)
    assert error.sentence() == str(error) == sentence


def test_the_four_kinds_can_be_told_apart() -> None:
    kinds = (ConfigError, DataError, LinkError, BrokenPromise)
    for kind in kinds:
        error = kind("x")
        assert [one for one in kinds if isinstance(error, one)] == [kind]
        assert isinstance(error, EvergridError)
