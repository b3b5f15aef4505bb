"""What follows from the declaration of a key."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evergrid.config import load
from evergrid.config.declaration import Group, Key, NamedSections, Properties, Shape
from evergrid.config.settings import CONFIGURATION, Limits
from evergrid.config.value_types import BOOLEAN


def declared_keys(shape: Shape, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Key]]:
    if isinstance(shape, Key):
        yield ".".join(path), shape
    elif isinstance(shape, NamedSections):
        yield from declared_keys(shape.each, (*path, "<name>"))
    elif isinstance(shape, Group):
        for name, below in shape.keys.items():
            yield from declared_keys(below, (*path, name))


KEYS = dict(declared_keys(CONFIGURATION))


@pytest.mark.parametrize("path", KEYS)
def test_every_key_is_declared_in_full(path: str) -> None:
    key = KEYS[path]
    assert key.purpose
    assert key.kind.expected
    assert not (key.default is not None and key.unset)
    if key.default is not None and not key.is_list:
        assert key.kind.accepts(key.default)
        written = key.kind.write(key.kind.read(key.default))
        assert (str(written).lower() if key.kind is BOOLEAN else str(written)) == key.default


@pytest.mark.parametrize(
    "path",
    [
        path
        for path, key in KEYS.items()
        if key.default is not None and "<name>" not in path and "security" not in path
    ],
)
def test_the_environment_can_set_every_key_with_a_default(path: str) -> None:
    key = KEYS[path]
    variable = "EVERGRID_" + path.replace(".", "__").upper()
    value = "" if key.is_list else key.default or ""
    assert load(None, {variable: value}) == load(None, {})
    assert key.is_list or load(None, {variable: f'"{value}"'}) == load(None, {})


def test_secrets_are_declared_as_such_and_never_read_as_yaml() -> None:
    secrets = {path.rpartition("security.")[2] for path, key in KEYS.items() if key.secret}
    assert secrets == {"password", "key_password", "client_secret", "extensions.<name>"}
    assert all(key.kind.verbatim for key in KEYS.values() if key.secret)


def test_what_another_program_names_may_hold_secrets() -> None:
    def sections(shape: Shape) -> Iterator[Properties]:
        if isinstance(shape, Properties):
            yield shape
        for below in shape.keys.values() if isinstance(shape, Group) else ():
            yield from sections(below)

    found = list(sections(CONFIGURATION))
    assert len(found) == 13
    assert all(shape.has_secrets for shape in found)


def test_a_declared_default_is_no_default_of_the_struct() -> None:
    with pytest.raises(TypeError, match="a declared field was not given"):
        Limits(message_bytes=1, nesting=1)  # type: ignore[call-arg]
