"""What a client would like to get, by its Accept headers."""

from __future__ import annotations

import re
from collections.abc import Iterator


def weights(header: str | None) -> Iterator[tuple[str, float]]:
    """Each thing that the header names, in lower case, and how much it is liked: from 0 to 1."""
    for part in (header or "").split(","):
        name, *options = (piece.strip().lower() for piece in part.split(";"))
        yield name, next((_weight(o[2:]) for o in options if o.startswith("q=")), 1.0)


def takes(header: str | None, *names: str) -> bool:
    """Whether one of these is named there, and not to say that it is not wanted."""
    return any(name in names and weight > 0 for name, weight in weights(header))


def _weight(text: str) -> float:
    return float(text) if re.fullmatch(r"[01](\.[0-9]{0,3})?", text) else 0.0
