"""What clients might send to a gateway: messages and URL parameters, valid, odd and broken.

Made from valid ones, since what is almost right goes deepest. The same seed makes the same ones.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote

from evergrid.views.view_query import Op
from tests.support.hostile_messages import mutated, number_text

_NAMES = ("name", "age", "height", "balance", "member", "seen", "ts", "_offset", "nothing", "")
_TEXTS = ("", "P1", "p", "%", "\x00", "é", "\U0001f600", "x" * 300, "2024-01-01T00:00:00Z", "NaN")
_PLACES = (0, 1, 5, -5, 300, 2**53, 5001)
_MEMBERS: Mapping[str, Sequence[str]] = {
    "hello": ("protocol", "key"),
    "open": ("sub", "table", "columns", "filter", "search", "order", "offset", "limit", "resume"),
    "move": ("sub", "offset", "limit"),
    "close": ("sub",),
    "heart": (),
}
_OFTEN = ("open", "open", "open", "move", "close", "heart", "hello")


def client_message(rng: random.Random) -> bytes:
    """A text message for a logged-in connection."""
    kind = rng.choice(_OFTEN)
    members = {"type": json.dumps(kind)}
    for name in _MEMBERS[kind]:
        if name in ("sub", "table", "offset") or rng.random() < 0.4:
            members[name] = _value(rng, name)
    if rng.random() < 0.1:
        members[rng.choice(("type", "sub", "table", "extra", "__proto__"))] = _odd(rng)
    pieces = [f"{json.dumps(name)}:{value}" for name, value in members.items()]
    if rng.random() < 0.05:
        pieces.append(rng.choice(pieces))
    text = ("{" + ",".join(pieces) + "}").encode(errors="surrogatepass")
    return mutated(rng, text) if rng.random() < 0.2 else text


def row_parameters(rng: random.Random) -> str:
    """The part of a URL after the `?`, for the rows of a table."""
    names = rng.sample(
        ("columns", "filter", "search", "order", "offset", "limit", "format", "guard", "extra"),
        rng.randint(0, 4),
    )
    if names and rng.random() < 0.05:
        names.append(rng.choice(names))
    return "&".join(f"{name}={_parameter(rng, name)}" for name in names)


def _parameter(rng: random.Random, name: str) -> str:
    chosen = list(rng.choices(_NAMES, k=rng.randint(1, 3)))
    makers: dict[str, Callable[[], str]] = {
        "columns": lambda: ",".join(chosen),
        "order": lambda: ",".join(
            rng.choice(("", "-")) + one + rng.choice(("", ":first", ":last", ":x"))
            for one in chosen
        ),
        "filter": lambda: _filter(rng, 3),
        "search": lambda: rng.choice(_TEXTS),
        "format": lambda: rng.choice(("json", "ndjson", "csv", "arrow", "exe")),
        "guard": lambda: rng.choice(("true", "0", "maybe")),
    }
    places = ("offset", "limit", "extra")
    makers |= dict.fromkeys(
        places, lambda: rng.choice(("all", *map(str, _PLACES), number_text(rng)))
    )
    text = makers[name]()
    data = text.encode(errors="surrogatepass")
    if rng.random() < 0.2:
        data = mutated(rng, data)
    return quote(data, safe=rng.choice(("", ",:-{}[]")))


def _value(rng: random.Random, name: str) -> str:
    """A member's value as JSON text; one in twelve is odd."""
    if rng.random() < 0.08:
        return _odd(rng)
    chosen = rng.sample(_NAMES, rng.randint(0, 3))
    orders = [{"column": one, "descending": rng.random() < 0.5} for one in chosen]
    makers: dict[str, Callable[[], str]] = {
        "sub": lambda: str(rng.choice((0, 1, 2, 3, 2**32 - 1))),
        "table": lambda: json.dumps(rng.choice(("people", "people", "nobody", "a b"))),
        "columns": lambda: json.dumps(chosen),
        "filter": lambda: _filter(rng, 3),
        "search": lambda: json.dumps(rng.choice(_TEXTS)),
        "order": lambda: json.dumps(orders),
        "resume": lambda: json.dumps({"instance": "x", "sequence": rng.randrange(3)}),
        "protocol": lambda: "1",
        "key": lambda: json.dumps(rng.choice(_TEXTS)),
    }
    makers |= dict.fromkeys(("offset", "limit"), lambda: str(rng.choice(_PLACES)))
    return makers[name]()


def _filter(rng: random.Random, depth: int) -> str:
    if depth and rng.random() < 0.4:
        parts = ",".join(_filter(rng, depth - 1) for _ in range(rng.randint(0, 3)))
        return f"{{{json.dumps(rng.choice(('and', 'or')))}:[{parts}]}}"
    op = rng.choice([*(op.value for op in Op), "regex"])
    values = [_odd(rng) for _ in range(rng.randint(0, 3))]
    value = rng.choice((_odd(rng), f"[{','.join(values)}]"))
    column = json.dumps(rng.choice(_NAMES))
    return f'{{"column":{column},"op":"{op}","value":{value}}}'


def _odd(rng: random.Random) -> str:
    """JSON of any type; now and then none."""
    fixed = ("null", "true", "[]", "{}", "NaN", "-1", "1e400", '"\\ud800"', "[[1]]", '{"a":1}')
    return rng.choice(
        (number_text(rng), json.dumps(rng.choice(_TEXTS)), rng.choice(fixed), rng.choice(fixed))
    )
