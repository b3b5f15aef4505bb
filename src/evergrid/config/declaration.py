"""How configuration keys are declared: once, as the fields of a struct for each section.

    class Limits(DeclaredKeys, frozen=True):
        nesting: int = setting(whole(1, 1000), "deeper messages go to quarantine", "64")

From these declarations follow the reading of values, the search for unknown keys, the names of
environment variables, `show`, default.yaml and the tables of docs/configuration.md.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, dataclass_transform

import msgspec

from evergrid.config.value_types import Value

T = TypeVar("T")


class _Declaration:
    """What msgspec keeps as a field's default; it gives none, so every field must be given."""

    def __call__(self) -> Any:
        raise TypeError(f"a declared field was not given: {self}")


@dataclass(frozen=True)
class Key(_Declaration):
    """A key with a single value, or with a list of them.

    `default` is written as in the file. A key without one must be given, unless `unset` says
    what holds without it; its field is then None. `name` is the key's name where the field has
    another one. A `secret` is marked so in the documentation.
    """

    kind: Value[Any]
    purpose: str
    default: str | None = None
    unset: str = ""
    name: str = ""
    secret: bool = False
    is_list: bool = False


@dataclass(frozen=True)
class Group(_Declaration):
    """A section whose keys the fields of `struct` declare.

    Written as a single value, that value is its `short` key. `is_optional`: without any of its
    keys, the field is None. `has_secrets`: what stands in it may be a piece of a secret, so a
    key that makes no sense is reported without its name.
    """

    struct: type[DeclaredKeys]
    purpose: str = ""
    short: str = ""
    is_optional: bool = False
    has_secrets: bool = False

    @property
    def keys(self) -> Mapping[str, Shape]:
        return dict(declared(self.struct).values())


@dataclass(frozen=True)
class NamedSections(_Declaration):
    """A section whose keys are names that the user chooses, each with the same shape below.

    `unset` says what holds without it; where it is empty, there must be at least one name.
    """

    each: Key | Group
    purpose: str = ""
    unset: str = ""


@dataclass(frozen=True)
class Properties(_Declaration):
    """A section whose keys are another program's property names, dots and all.

    `name` is the kind of these names, made lower case in the environment where `is_lower`.
    `reserved` are those that have a key of their own, each with a sentence and a remedy.
    """

    purpose: str
    name: Value[str]
    reserved: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    is_lower: bool = False
    has_secrets: bool = True


Shape = Key | Group | NamedSections | Properties


def setting(kind: Value[T], purpose: str, default: str | None = None, **more: Any) -> T:
    """Declare a field as a key with a single value; `more` are the other attributes of Key."""
    return cast(T, msgspec.field(default_factory=Key(kind, purpose, default, **more)))


def setting_list(
    kind: Value[T], purpose: str, default: str | None = None, **more: Any
) -> tuple[T, ...]:
    """Declare a field as a key with a list of values."""
    return cast(tuple[T, ...], setting(kind, purpose, default, is_list=True, **more))


def subsection(declaration: Group | NamedSections | Properties) -> Any:
    """Declare a field as a section."""
    return msgspec.field(default_factory=declaration)


@dataclass_transform(frozen_default=True, field_specifiers=(setting, setting_list, subsection))
class DeclaredKeys(msgspec.Struct, frozen=True):
    """A section of the configuration: its declared fields are its keys."""


@functools.cache
def declared(struct: type[DeclaredKeys]) -> Mapping[str, tuple[str, Shape]]:
    """The declared fields of `struct`: for each one the key's name and its declaration."""
    found: dict[str, tuple[str, Shape]] = {}
    for info in msgspec.structs.fields(struct):
        shape = info.default_factory
        if isinstance(shape, Key):
            found[info.name] = shape.name or info.name, shape
        elif isinstance(shape, Group | NamedSections | Properties):
            found[info.name] = info.name, shape
    return found


def below(shape: Shape | None, key: str) -> Shape | None:
    """The declaration of `key` in a section; None for one that is not declared."""
    if isinstance(shape, NamedSections):
        return shape.each
    return shape.keys.get(key) if isinstance(shape, Group) else None
