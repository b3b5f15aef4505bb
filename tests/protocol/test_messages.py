"""The JSON messages: what clients may send, and what the gateway answers."""

from __future__ import annotations

import json

import msgspec
import pytest

from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import (
    DEFAULT_LIMIT,
    Closed,
    Hello,
    Live,
    Open,
    WindowState,
    decode_client,
    decode_server,
    encode,
    failed,
)
from evergrid.views.view_query import Query, Window


def test_an_open_message_needs_only_its_number_and_table() -> None:
    message = decode_client('{"type":"open","sub":1,"table":"users_ui"}')
    assert isinstance(message, Open)
    assert message.query == Query("users_ui")
    assert message.window == Window(0, DEFAULT_LIMIT)
    assert decode_client(encode(message)) == message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"type":"welcome"}',
        '{"type":"hello"}',
        '{"type":"hello","protocol":1,"more":2}',
        '{"type":"open","sub":"1","table":"t"}',
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(msgspec.MsgspecError):
        decode_client(text)


def test_a_key_that_is_not_sent_is_not_in_the_message() -> None:
    assert json.loads(encode(Hello(1))) == {"type": "hello", "protocol": 1}


def test_the_state_of_a_window_is_one_value_with_the_windows_number() -> None:
    state = WindowState(Live.STALE, "The pipeline stopped.", since=5)
    sent = json.loads(encode(state.of_window(7)))
    assert sent == {
        "type": "state",
        "state": "stale",
        "message": "The pipeline stopped.",
        "since": 5,
        "sub": 7,
    }
    assert decode_server(encode(state.of_window(7))) == state.of_window(7)


def test_a_newer_gateway_may_add_fields() -> None:
    assert decode_server('{"type":"closed","sub":3,"later":1}') == Closed(3)


def test_an_error_says_whether_it_ends_the_connection_and_whether_to_retry() -> None:
    slow = failed(Code.TOO_SLOW, "too slow")
    assert (slow.fatal, slow.retry, slow.sub) == (True, True, None)
    bad = failed(Code.BAD_FILTER, "bad filter", 4)
    assert (bad.fatal, bad.retry, bad.sub) == (False, False, 4)
