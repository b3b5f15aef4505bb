"""Valid messages of any source, as JSON text, made from its fields' types."""

from __future__ import annotations

import datetime
import json
import random
import re
from collections.abc import Mapping

from evergrid.testing.oracle import SourceSpec

_WORDS = ("Ann", "Zoë Łukasz", "", " ", "O'Neil", 'say "hi"', "a\\b", "line\nend", "李", "😀", "42")
_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def object_text(rng: random.Random, source: SourceSpec, fixed: Mapping[str, str | None]) -> str:
    """A valid object of `source`; `fixed` gives columns their JSON text, None leaves one out."""
    members = []
    for column, spelling in source.fields.items():
        text = fixed[column] if column in fixed else value_text(rng, spelling)
        if text is not None:
            members.append(f"{json.dumps(source.json_name(column))}:{_gap(rng)}{text}")
    if rng.random() < 0.2:
        rng.shuffle(members)
    return "{" + f",{_gap(rng)}".join(members) + "}"


def value_text(rng: random.Random, spelling: str) -> str:
    """JSON text that a field of type `spelling` accepts, in any of the shapes it may have."""
    if spelling == "text":
        return json.dumps(rng.choice(_WORDS), ensure_ascii=rng.random() < 0.5)
    if spelling == "boolean":
        return rng.choice(("true", "false", '"true"', '"false"'))
    if spelling.startswith("timestamp"):
        return time_text(rng, spelling, rng.randrange(0, 2_000_000_000_000_000))
    if spelling == "float":
        return _maybe_quoted(rng, repr(rng.uniform(-1e6, 1e6)))
    if spelling == "integer":
        size = rng.choice((10, 1_000, 2**31, 2**62))
        return _maybe_quoted(rng, f"{rng.randrange(-size, size)}{rng.choice(('', '', '.0'))}")
    return _maybe_quoted(rng, _decimal(rng, spelling))


def time_text(rng: random.Random, spelling: str, microseconds: int) -> str:
    """One moment as JSON text, ISO 8601 or an epoch number in the unit of `spelling`."""
    unit = spelling.removeprefix("timestamp(").removesuffix(")")
    if rng.random() < 0.5:
        moment = _EPOCH + datetime.timedelta(microseconds=microseconds)
        return '"' + moment.isoformat().replace("+00:00", rng.choice(("Z", "+00:00"))) + '"'
    if unit == "ns":
        return str(microseconds * 1_000)
    whole, rest = divmod(microseconds, _MICROSECONDS[unit])
    places = len(str(_MICROSECONDS[unit])) - 1
    return f"{whole}.{rest:0{places}d}" if rest else str(whole)


def _decimal(rng: random.Random, spelling: str) -> str:
    precision, scale = (int(number) for number in re.findall(r"\d+", spelling))
    units = rng.randrange(10 ** rng.randint(0, precision))
    return rng.choice(("", "-")) + decimal_text(units, scale)


def decimal_text(units: int, scale: int) -> str:
    """A decimal with so many digits after the point."""
    digits = str(units).rjust(scale + 1, "0")
    return f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits


def _maybe_quoted(rng: random.Random, text: str) -> str:
    return f'"{text}"' if rng.random() < 0.2 else text


def _gap(rng: random.Random) -> str:
    return rng.choice(("", " "))
