"""A control message is understood exactly, or refused with the reason."""

from __future__ import annotations

import random

import msgspec
import pytest
from tests.support.soak import Counted, Soak

from evergrid.changelog.control_message import LARGEST_BYTES, read_request
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.model.control_request import Request
from evergrid.model.errors import DataError
from evergrid.model.join import JoinType

SEED = 20_261_116
FUZZED = 5_000
LOTS = 40


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load(None, {})


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ('{"usersTopic": "users_v2"}', Request({"users": "users_v2"})),
        ('{"joinType": "asof"}', Request({}, {"final": JoinType.ASOF})),
        ('{"finalJoinType": "inner"}', Request({}, {"final": JoinType.INNER})),
        (
            ' {"accountsTopic":"accounts","usersTopic":null,"joinType":"left"}\n',
            Request({"accounts": "accounts"}, {"final": JoinType.LEFT}),
        ),
    ],
)
def test_what_is_named_is_asked_for_and_the_rest_stays(
    settings: Settings, text: str, request_: Request
) -> None:
    assert read_request(text.encode(), settings) == request_


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "it has no value"),
        (b"", "it is not valid JSON"),
        (b"hello", "it is not valid JSON"),
        (b'{"joinType": "left"', "it is not valid JSON"),
        (b'{"joinType": "left"} {}', "it is not valid JSON"),
        (b'{"joinType": NaN}', "NaN is not a number"),
        (b"[" * 9000, "it is not valid JSON"),
        (b'\xff{"joinType": "left"}', "it is not UTF-8 text"),
        (b"[]", "it is not a JSON object"),
        (b'"left"', "it is not a JSON object"),
        (b"{}", "it asks for nothing; name one of usersTopic, accountsTopic, joinType"),
        (b'{"joinType": null}', "it asks for nothing"),
        (b'{"joinType": "left", "joinType": "asof"}', "it has the same field twice"),
        (b'{"jointype": "left"}', "there is no 'jointype' to set; it can be one of usersTopic"),
        (b'{"joinType": "LEFT"}', 'joinType is "LEFT", expected one of asof, left, inner'),
        (b'{"joinType": ["left"]}', 'joinType is ["left"], expected one of asof, left, inner'),
        (b'{"joinType": "left", "finalJoinType": "asof"}', "name the type of the same join"),
        (b'{"joinType": "\\ud83d"}', r'joinType is "\ud83d", expected one of asof'),
        (b'{"usersTopic": "\\udc00"}', r'usersTopic is "\udc00", expected the name'),
        (b'{"\\ud800": "left"}', r"there is no '\ud800' to set"),
        (b'{"usersTopic": 7}', "usersTopic is 7, expected the name of a Kafka topic"),
        (b'{"usersTopic": "a b"}', 'usersTopic is "a b", expected the name of a Kafka topic'),
        (b'{"usersTopic": "payroll"}', "topic payroll is not allowed; control.allow has users"),
        (b'{"usersTopic": "evergrid.manifest"}', "is one of Evergrid's own"),
        (b'{"usersTopic": "evergrid-control"}', "is one of Evergrid's own"),
        (b" " * LARGEST_BYTES + b"{}", "at most 16,384 are read"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(
    settings: Settings, value: bytes | None, reason: str
) -> None:
    with pytest.raises(DataError) as refused:
        read_request(value, settings)
    assert reason in refused.value.sentence()
    assert msgspec.json.encode(refused.value.sentence()), "it is for everybody to read"


def test_nothing_is_nested_too_deeply_to_be_refused(settings: Settings) -> None:
    """There is a depth at which it can be read, and not be written any more."""
    for depth in range(800, 1010):
        value = b'{"joinType": ' + b"[" * depth + b"]" * depth + b"}"
        with pytest.raises(DataError):
            read_request(value, settings)


def test_with_several_joins_each_has_a_word_of_its_own(settings: Settings) -> None:
    final = settings.joins["final"]
    several = msgspec.structs.replace(settings, joins={"final": final, "other": final})
    assert read_request(b'{"otherJoinType": "inner"}', several) == Request(
        {}, {"other": JoinType.INNER}
    )
    with pytest.raises(DataError, match="finalJoinType, otherJoinType"):
        read_request(b'{"joinType": "inner"}', several)


def test_later_messages_count_where_they_differ() -> None:
    first = Request({"users": "a", "accounts": "b"}, {"final": JoinType.LEFT})
    second = Request({"users": "c"})
    assert second.over(first) == Request({"users": "c", "accounts": "b"}, first.types)


def test_no_bytes_whatsoever_break_the_reader(settings: Settings) -> None:
    survives(settings, SEED, FUZZED)


@pytest.mark.soak(part="inputs")
def test_bytes_for_long(settings: Settings, soak: Soak) -> None:
    for lot in range(soak.figure(LOTS)):
        survives(settings, soak.seed + lot, FUZZED)
        soak.count(Counted.BAD_INPUTS, FUZZED)


def survives(settings: Settings, seed: int, count: int) -> None:
    """Each message of these is a request, or is refused with a reason that can be shown."""
    print(f"seed {seed}")
    rng = random.Random(seed)
    good = b'{"usersTopic": "users_v2", "accountsTopic": "accounts", "joinType": "left"}'
    for _ in range(count):
        value = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            place = rng.randrange(len(value))
            piece = rng.choice((rng.randbytes(rng.randint(0, 3)), b"\\ud800", b"\\u0000"))
            value[place : place + rng.randint(0, 3)] = piece
            value = value or bytearray(b" ")
        told = ""
        try:
            assert read_request(bytes(value), settings) != Request()
        except DataError as refused:
            told = refused.sentence()
        assert msgspec.json.encode(told)
