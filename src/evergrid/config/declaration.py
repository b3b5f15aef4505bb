"""How configuration keys are declared: once, as annotated fields of a struct for each section.

    class Limits(msgspec.Struct, frozen=True):
        nesting: Annotated[int, Key(whole(1, 1000), "deeper messages go to quarantine", "64")]

From these declarations follow the reading of values, the search for unknown keys, the names of
environment variables, `show`, default.yaml and the tables of docs/configuration.md.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from evergrid.config.values import Value


@dataclass(frozen=True)
class Key:
    """A key with a single value, or with a list of them.

    `default` is written as in the file. A key without one must be given, unless `unset` says
    what holds without it; its field is then None. `name` is the key's name where the field has
    another one. A `secret` is marked so in the documentation.
    """

    kind: Value[Any]
    help: str
    default: str | None = None
    unset: str = ""
    name: str = ""
    secret: bool = False
    is_list: bool = False


@dataclass(frozen=True)
class Group:
    """A section whose keys the fields of `struct` declare.

    Written as a single value, that value is its `short` key. `is_optional`: without any of its
    keys, the field is None. `has_secrets`: what stands in it may be a piece of a secret, so a
    key that makes no sense is reported without its name.
    """

    struct: type[msgspec.Struct]
    help: str = ""
    short: str = ""
    is_optional: bool = False
    has_secrets: bool = False

    @property
    def keys(self) -> Mapping[str, Shape]:
        return dict(declared(self.struct).values())


@dataclass(frozen=True)
class Named:
    """A section whose keys are names that the user chooses, each with the same shape below."""

    each: Key | Group
    help: str = ""


@dataclass(frozen=True)
class Properties:
    """A section whose keys are another program's property names, dots and all.

    `name` is the kind of these names, made lower case in the environment where `is_lower`.
    `reserved` are those that have a key of their own, each with a sentence and a remedy.
    """

    help: str
    name: Value[str]
    reserved: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    is_lower: bool = False
    has_secrets: bool = True


Shape = Key | Group | Named | Properties


@functools.cache
def declared(struct: type[msgspec.Struct]) -> Mapping[str, tuple[str, Shape]]:
    """The declared fields of `struct`: for each one the key's name and its declaration.

    A field whose type is a struct with declared fields is a group by that alone.
    """
    found: dict[str, tuple[str, Shape]] = {}
    for name, hint in typing.get_type_hints(struct, include_extras=True).items():
        for shape in getattr(hint, "__metadata__", ()):
            if isinstance(shape, Key | Group | Named | Properties):
                found[name] = (shape.name or name) if isinstance(shape, Key) else name, shape
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct) and declared(hint):
            found[name] = name, Group(hint)
    return found


def below(shape: Shape | None, key: str) -> Shape | None:
    """The declaration of `key` in a section; None for one that is not declared."""
    if isinstance(shape, Named):
        return shape.each
    return shape.keys.get(key) if isinstance(shape, Group) else None
