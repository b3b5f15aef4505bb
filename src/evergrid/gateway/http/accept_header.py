"""Reads Accept headers: which of several things a client prefers."""

from __future__ import annotations

import re
from collections.abc import Iterator


def weights(header: str | None) -> Iterator[tuple[str, float]]:
    """Each item of the header in lower case, and its weight from 0 to 1."""
    for part in (header or "").split(","):
        name, *options = (piece.strip().lower() for piece in part.split(";"))
        yield name, next((_weight(o[2:]) for o in options if o.startswith("q=")), 1.0)


def accepts(header: str | None, *names: str) -> bool:
    """Whether the header lists one of these with a weight above 0."""
    return any(name in names and weight > 0 for name, weight in weights(header))


def _weight(text: str) -> float:
    return float(text) if re.fullmatch(r"[01](\.[0-9]{0,3})?", text) else 0.0
