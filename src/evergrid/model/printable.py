"""Text from outside, made safe for terminals and logs."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` with control characters escaped, so that none of it can control a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
