"""The quick way to read most messages: flat JSON objects without escapes or surprises.

It only says what a plain message's parts are. Everything else, and everything that is wrong,
is left to `strict`; a test holds that both agree.
"""

from __future__ import annotations

import re

from evergrid.testing.oracle.strict import Document, JsonKind, Part

_NAME = r'"([^"\\\x00-\x1f]*)"'
_VALUE = (
    r'(?:"([^"\\\x00-\x1f]*)"'
    r"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)(?![0-9.eE])"
    r"|(true|false)|(null))"
)
_MEMBER = re.compile(rf"[{{,] ?{_NAME}: ?{_VALUE}")


def parse_plain(text: str) -> Document | None:
    """The parts of a plain message, or None: then it must be looked at more closely."""
    if text[:1] != "{" or text[-1:] != "}":
        return None
    members = []
    end, last = 0, len(text) - 1
    while end < last:
        match = _MEMBER.match(text, end)
        if match is None or (match[0][0] == "{") != (end == 0):
            return None
        name, characters, number, boolean, null = match.groups()
        if characters is not None:
            members.append((name, Part(JsonKind.TEXT, characters)))
        elif number is not None:
            members.append((name, Part(JsonKind.NUMBER, number)))
        elif boolean is not None:
            members.append((name, Part(JsonKind.BOOLEAN, boolean)))
        else:
            members.append((name, Part(JsonKind.NULL, null)))
        end = match.end()
    return Document(JsonKind.OBJECT, tuple(members), nested_repeat=False) if members else None
