"""The oracle's strict JSON is the standard library's, without what that lets through."""

from __future__ import annotations

import json
import random
import re

import pytest
from tests.support.cases import CASES
from tests.support.hostile_messages import hostile

from evergrid.testing.oracle import LimitsSpec, from_config
from evergrid.testing.oracle.strict import Broken, Document, JsonKind, Part, depth, parse

SOURCE = from_config(
    {
        "sources": {
            "s": {
                "key": "k",
                "fields": {"k": "text", "n": "integer", "d": "decimal(9,2)", "b": "boolean"},
            }
        }
    }
).sources["s"]
DEEPEST = 500  # the standard library follows no further


class Pairs(list[tuple[str, object]]):
    """The members of an object, repeats included."""


class Constant(Exception):
    """NaN or an infinity."""


def refuse(constant: str) -> None:
    raise Constant(constant)


def loads(text: str) -> object:
    """Refuses what RFC 8259 and UTF-8 do not know."""
    value = json.loads(
        text, object_pairs_hook=Pairs, parse_int=float, parse_float=float, parse_constant=refuse
    )
    json.dumps(value, ensure_ascii=False).encode()
    return value


def agree(text: str) -> bool:
    """Whether it is JSON; then both have read the same, else neither."""
    assert depth(text) <= len(re.findall(r"[\[{]", text))
    if depth(text) > DEEPEST:
        return False
    try:
        document = parse(text)
    except Broken:
        document = None
    if document and any(part.kind is JsonKind.CONSTANT for _, part in document.members):
        with pytest.raises(Constant):
            loads(text)
        return False
    try:
        expected = loads(text)
    except (ValueError, Constant):
        assert document is None, text
        return False
    assert document is not None, text
    same_members(document, expected)
    return True


def same_members(document: Document, expected: object) -> None:
    assert (document.kind is JsonKind.OBJECT) == isinstance(expected, Pairs)
    if isinstance(expected, Pairs):
        assert [name for name, _ in document.members] == [name for name, _ in expected]
        for (_, part), (_, value) in zip(document.members, expected, strict=True):
            assert value_of(part) == value


def value_of(part: Part) -> object:
    return part.characters if part.kind is JsonKind.TEXT else loads(part.characters)


def texts(values: list[bytes | None]) -> list[str]:
    found = []
    for value in values:
        try:
            found.append((value or b"").decode())
        except UnicodeDecodeError:
            continue
    return found


def test_both_agree_on_every_case() -> None:
    valid = [agree(text) for text in texts([case.value for case in CASES])]
    assert 200 < sum(valid) < len(valid)


@pytest.mark.parametrize("seed", range(5))
def test_both_agree_on_hostile_messages(seed: int) -> None:
    values = hostile(random.Random(seed), SOURCE, LimitsSpec())
    valid = [agree(text) for text in texts([next(values) for _ in range(2_000)])]
    assert 20 < sum(valid) < 2_000


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "}", '{"a":01}', '{"a":1.}', '{"a":1"b":2}', '{"a":1,}', '{"a":1,,"b":2}'),
        *('{,"a":1}', '{"a":1}}', '{{"a":1}', '{"a":tru}', '{"a":NaN}', '{"a":"\t"}'),
        *('{"a":1}{"b":2}', '{"a":-}', '{"a":"x"y}', '{"a" 1}', '{"a":[1}', '{"a":1]'),
    ],
)
def test_broken_texts(text: str) -> None:
    assert not agree(text)


@pytest.mark.parametrize(
    "text",
    [
        *('{"a":1}', '{"a": -0.50, "a": null}', '{"":"", "é":"{[,:]}"}', '{"a":true,"b":false}'),
        *("{}", '{"a":1e5}', '{"a":"\\n"}', '{"a":1 }', '{"a":{}}', ' {"a" : 1 , "b":[] } '),
    ],
)
def test_texts_that_are_whole(text: str) -> None:
    assert agree(text)


def test_both_agree_on_texts_with_one_change() -> None:
    rng = random.Random(1)
    whole = '{"k": "a b", "n": -12.5, "d": null, "b": true}'
    valid = 0
    for _ in range(3_000):
        place = rng.randrange(len(whole))
        text = whole[:place] + rng.choice(['"', ",", "{", "}", ":", "0", "e", "", "\\", "n"])
        valid += agree(text + whole[place + rng.randrange(2) :])
    assert 20 < valid < 3_000
