"""Read the Java client's `sasl.jaas.config`: one login module and its options.

The rules are those of the Java client's own reader: values may be bare words or quoted
with single or double quotes, and a backslash in quotes escapes the next character.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

_OPTION = re.compile(
    r"""\s*(?P<name>[\w.$-]+)\s*=\s*
        (?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<bare>[^\s;"']+))""",
    re.VERBOSE | re.DOTALL,
)
_MODULE = re.compile(r"\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)\b", re.IGNORECASE)
_END = re.compile(r"\s*;\s*\Z")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}


class Login(msgspec.Struct, frozen=True):
    """A login module by its class name without the package, and its options."""

    module: str
    options: Mapping[str, str]


def parse(text: str) -> Login | None:
    """The one login that `text` configures, or None when it is not well formed.

    It says no more than None on purpose: the text holds passwords, and an error that
    quotes the place would show them.
    """
    module = _MODULE.match(text)
    if module is None:
        return None
    options: dict[str, str] = {}
    at = module.end()
    while option := _OPTION.match(text, at):
        bare = option["bare"]
        quoted = option["double"] if option["double"] is not None else option["single"]
        options[option["name"]] = bare if bare is not None else _ESCAPED.sub(_plain, quoted)
        at = option.end()
    if not _END.match(text, at):
        return None
    return Login(module[1].rpartition(".")[2], options)


def _plain(escaped: re.Match[str]) -> str:
    return _CONTROL.get(escaped[1], escaped[1])
