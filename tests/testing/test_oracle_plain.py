"""The quick way to read a message gives what the strict way gives, or nothing."""

from __future__ import annotations

import random

import pytest

from evergrid.testing.cases import CASES
from evergrid.testing.hostile_messages import hostile
from evergrid.testing.oracle import LimitsSpec, from_config
from evergrid.testing.oracle.plain import parse_plain
from evergrid.testing.oracle.strict import Broken, depth, parse

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


def agree(text: str) -> bool:
    """Whether it was read the quick way; then the strict way has the same."""
    plain = parse_plain(text)
    if plain is not None:
        assert plain == parse(text), text
        assert depth(text) == 1, text
    return plain is not None


def texts(values: list[bytes | None]) -> list[str]:
    found = []
    for value in values:
        try:
            found.append((value or b"").decode())
        except UnicodeDecodeError:
            continue
    return found


def test_both_agree_on_every_case() -> None:
    quick = [agree(text) for text in texts([case.value for case in CASES])]
    assert any(quick)


@pytest.mark.parametrize("seed", range(5))
def test_both_agree_on_hostile_messages(seed: int) -> None:
    values = hostile(random.Random(seed), SOURCE, LimitsSpec())
    quick = [agree(text) for text in texts([next(values) for _ in range(2_000)])]
    assert 20 < sum(quick) < 2_000


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "}", "{}", '{"a":01}', '{"a":1e5}', '{"a":1.}', '{"a":1"b":2}', '{"a":1,}'),
        *('{,"a":1}', '{"a":1}}', '{{"a":1}', '{"a":tru}', '{"a":NaN}', '{"a":"\t"}'),
        *('{"a":"\\n"}', '{"a":1 }', '{"a":{}}', '{"a":1}{"b":2}', '{"a":-}', '{"a":"x"y}'),
        ' {"a":1}',
    ],
)
def test_whatever_is_not_plain_is_left_to_the_strict_way(text: str) -> None:
    assert parse_plain(text) is None


@pytest.mark.parametrize(
    "text", ['{"a":1}', '{"a": -0.50, "a": null}', '{"":"", "é":"{[,:]}"}', '{"a":true,"b":false}']
)
def test_plain_messages_are_read_the_quick_way(text: str) -> None:
    assert agree(text)


def test_broken_texts_are_not_plain() -> None:
    rng = random.Random(1)
    whole = '{"k": "a b", "n": -12.5, "d": null, "b": true}'
    for _ in range(3_000):
        place = rng.randrange(len(whole))
        text = whole[:place] + rng.choice(['"', ",", "{", "}", ":", "0", "e", "", "\\", "n"])
        text += whole[place + rng.randrange(2) :]
        try:
            parse(text)
        except Broken:
            assert parse_plain(text) is None, text
        agree(text)
