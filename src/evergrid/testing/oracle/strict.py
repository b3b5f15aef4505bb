"""Strict JSON (RFC 8259) that remembers the exact characters of each top-level value.

The standard library's decoder judges single values; it is strict but for three
constants and for duplicate names, which this module watches for itself.
"""

from __future__ import annotations

import enum
import json
import re
from dataclasses import dataclass
from functools import cached_property

_WHITE = re.compile(r"[ \t\n\r]*")
_CONSTANT = re.compile(r"NaN|-?Infinity")
_QUOTED = re.compile(r'"[^"]*"')
# Most members are plain: a text without escapes, a number or a word, and what follows it.
_PLAIN_TEXT = r'"[^"\\\x00-\x1f]*"'
_PLAIN_MEMBER = re.compile(
    rf"({_PLAIN_TEXT})[ \t\n\r]*:[ \t\n\r]*"
    rf"({_PLAIN_TEXT}|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)"
    r"[ \t\n\r]*([,}])[ \t\n\r]*"
)


class JsonKind(enum.Enum):
    """What a JSON value is; the words are those of quarantine's reasons."""

    OBJECT = "an object"
    ARRAY = "an array"
    TEXT = "a text"
    NUMBER = "a number"
    BOOLEAN = "a boolean"
    NULL = "null"
    CONSTANT = "NaN or Infinity"  # no JSON, but common enough to be named to the user


# By the first character; whatever else begins with another one is a number.
_KINDS = {
    "{": JsonKind.OBJECT,
    "[": JsonKind.ARRAY,
    '"': JsonKind.TEXT,
    "t": JsonKind.BOOLEAN,
    "f": JsonKind.BOOLEAN,
    "n": JsonKind.NULL,
}


@dataclass(frozen=True)
class Part:
    """One value: what it is, and its characters (a text's own, else as written)."""

    kind: JsonKind
    characters: str


@dataclass(frozen=True)
class Document:
    """A whole message; `members` only when it is an object, in order, repeats included."""

    kind: JsonKind
    members: tuple[tuple[str, Part], ...]
    nested_repeat: bool


class Broken(Exception):
    """The text is not JSON."""


def depth(text: str) -> int:
    """How deep brackets nest outside strings; defined for broken JSON too."""
    bare = _QUOTED.sub("", text.replace("\\\\", "").replace('\\"', ""))
    deepest = level = 0
    for character in bare:
        if character in "[{":
            level += 1
            deepest = max(deepest, level)
        elif character in "]}":
            level = max(0, level - 1)
    return deepest


def parse(text: str) -> Document:
    """The message's parts; raises Broken where the text is not JSON.

    NaN and the infinities are let through as values of top-level members only.
    """
    return _Parser(text).document()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._nested_repeat = False

    @cached_property
    def _decoder(self) -> json.JSONDecoder:
        return json.JSONDecoder(
            object_pairs_hook=self._nested_object,
            parse_constant=self._nested_constant,
            parse_int=str,
            parse_float=str,
        )

    def document(self) -> Document:
        start = self._white(0)
        members: list[tuple[str, Part]] = []
        if self._at(start) == "{":
            kind = JsonKind.OBJECT
            end = self._members(start + 1, members)
        else:
            part, end = self._value(start)
            if part.kind is JsonKind.CONSTANT:
                raise Broken
            kind = part.kind
        if self._white(end) != len(self._text):
            raise Broken
        return Document(kind, tuple(members), self._nested_repeat)

    def _members(self, position: int, members: list[tuple[str, Part]]) -> int:
        """Adds those that begin at `position`; gives the place after the object."""
        position = self._white(position)
        if self._at(position) == "}":
            return position + 1
        after = ","
        while after == ",":
            if plain := _PLAIN_MEMBER.match(self._text, position):
                name, value, after = plain.groups()
                members.append((name[1:-1], _plain_part(value)))
                position = plain.end()
                continue
            if self._at(position) != '"':
                raise Broken
            name, position = self._decode(position)
            position = self._white(position)
            if self._at(position) != ":":
                raise Broken
            part, position = self._value(self._white(position + 1))
            members.append((_whole(str(name)), part))
            position = self._white(position)
            after = self._at(position)
            position = self._white(position + 1)
        if after != "}":
            raise Broken
        return position

    def _value(self, start: int) -> tuple[Part, int]:
        if constant := _CONSTANT.match(self._text, start):
            return Part(JsonKind.CONSTANT, constant[0]), constant.end()
        value, end = self._decode(start)
        kind = _KINDS.get(self._at(start), JsonKind.NUMBER)
        text = _whole(str(value)) if kind is JsonKind.TEXT else self._text[start:end]
        return Part(kind, text), end

    def _decode(self, start: int) -> tuple[object, int]:
        try:
            return self._decoder.raw_decode(self._text, start)
        except json.JSONDecodeError as problem:
            raise Broken from problem

    def _nested_object(self, members: list[tuple[str, object]]) -> None:
        if len({_whole(name) for name, _ in members}) < len(members):
            self._nested_repeat = True

    def _nested_constant(self, constant: str) -> None:
        raise Broken(constant)

    def _white(self, position: int) -> int:
        match = _WHITE.match(self._text, position)
        assert match is not None
        return match.end()

    def _at(self, position: int) -> str:
        return self._text[position : position + 1]


def _plain_part(value: str) -> Part:
    kind = _KINDS.get(value[0], JsonKind.NUMBER)
    return Part(kind, value[1:-1] if kind is JsonKind.TEXT else value)


def _whole(text: str) -> str:
    """Half of a surrogate pair is no character and cannot be written as UTF-8.

    JSON can still spell one (``"\\ud800"``); such a text could be shown to nobody.
    """
    if re.search("[\ud800-\udfff]", text):
        raise Broken
    return text
