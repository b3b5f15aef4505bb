"""The conversation with a gateway, word by word: windows outlive whatever happens to it."""

from __future__ import annotations

import pytest

from evergrid.client.client_errors import Denied, Rejected
from evergrid.client.live_protocol import RETRY_SECONDS, LiveProtocol
from evergrid.model.errors import BrokenPromise
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import (
    Close,
    Closed,
    Heart,
    Hello,
    Live,
    Move,
    Open,
    ServerHeart,
    Welcome,
    encode,
    failed,
)
from evergrid.views.view_query import Query, Window
from tests.client.gateway_messages import full, row, state, welcome
from tests.client.protocol_driver import NOW, ids, logged_in, number, opened, said


def test_nothing_but_hello_is_said_before_the_welcome() -> None:
    protocol = LiveProtocol()
    subscription = opened(protocol)
    protocol.connected()
    assert said(protocol) == [Hello(1)]
    protocol.receive_text(welcome(), NOW)
    assert said(protocol) == [Open(number(subscription), "users_ui")]


def test_each_heart_is_answered_with_a_heart() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    protocol.receive_text(encode(ServerHeart(1)), NOW)
    protocol.receive_text(encode(ServerHeart(2)), NOW)
    assert said(protocol) == [Heart()]


def test_windows_do_not_disturb_each_other() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    one, two = opened(protocol), opened(protocol, Query("final_ui"))
    protocol.receive_frame(full(number(one), 1, [row(1)]), NOW)
    protocol.receive_frame(full(number(two), 1, [row(2)]), NOW)
    protocol.receive_text(encode(failed(Code.NO_RIGHTS, "not yours", number(one))), NOW)
    assert isinstance(one.failure, Denied)
    assert two.failure is None
    assert ids(two) == ["0:2"]


def test_late_frames_of_a_closed_window_reach_nobody() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    sub = number(subscription)
    said(protocol)
    protocol.close(subscription)
    assert said(protocol) == [Close(sub)]
    protocol.receive_frame(full(sub, 1, [row(1)]), NOW)
    protocol.receive_text(state(sub, Live.STALE, "late"), NOW)
    protocol.receive_text(encode(Closed(sub)), NOW)
    assert subscription.take() is None
    assert logged_in(protocol) == []


def test_numbers_are_never_used_twice_not_even_after_a_cut() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    first = number(subscription)
    protocol.disconnected("cut")
    logged_in(protocol)
    assert number(subscription) != first
    protocol.receive_frame(full(first, 9, [row(1)]), NOW)
    assert subscription.newest().sequence == 0


def test_only_the_last_move_is_sent() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    said(protocol)
    for offset in range(1, 100):
        protocol.move(subscription, Window(offset, 50))
    protocol.move(subscription, Window(99, 50))
    assert said(protocol) == [Move(number(subscription), 99, 50)]


def test_a_move_without_a_connection_is_remembered() -> None:
    protocol = LiveProtocol()
    subscription = opened(protocol)
    protocol.move(subscription, Window(10, 20))
    [opening] = logged_in(protocol)
    assert opening == Open(number(subscription), "users_ui", offset=10, limit=20)


def test_opened_and_closed_before_anything_was_said_says_nothing() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    protocol.close(opened(protocol))
    assert said(protocol) == []


def test_what_makes_sense_later_is_asked_for_again_later() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    first = number(subscription)
    said(protocol)
    protocol.receive_text(encode(failed(Code.TOO_MANY_VIEWS, "no room", first)), NOW)
    window = subscription.take()
    assert window is not None
    assert window.state is Live.WAITING
    assert "no room" in window.message
    assert protocol.retry(NOW) == RETRY_SECONDS
    assert said(protocol) == []
    assert protocol.retry(NOW + RETRY_SECONDS) is None
    assert said(protocol) == [Open(number(subscription), "users_ui")]


def test_a_fault_of_the_question_ends_its_window_with_the_code() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    protocol.receive_text(
        encode(failed(Code.UNKNOWN_COLUMN, "no column agee", number(subscription))), NOW
    )
    error = subscription.failure
    assert isinstance(error, Rejected)
    assert error.code == "unknown_column"
    assert "users_ui: no column agee" in str(error)


def test_a_fatal_error_is_raised_and_says_whether_to_come_again() -> None:
    protocol = LiveProtocol()
    protocol.connected()
    with pytest.raises(Denied, match="EVERGRID_KEY") as denied:
        protocol.receive_text(encode(failed(Code.BAD_KEY, "unknown key")), NOW)
    assert not denied.value.retry
    with pytest.raises(Rejected) as rejected:
        protocol.receive_text(encode(failed(Code.SHUTTING_DOWN, "going down")), NOW)
    assert rejected.value.retry


def test_another_protocol_is_refused() -> None:
    protocol = LiveProtocol()
    protocol.connected()
    other = encode(Welcome(2, "x", "y", "z", False, 5.0, 1, 1, 1))
    with pytest.raises(Rejected, match="unsupported protocol: gateway 2, client 1") as rejected:
        protocol.receive_text(other, NOW)
    assert rejected.value.code == "unsupported_protocol"


def test_a_question_too_long_for_the_gateway_ends_only_its_window() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    long, short = opened(protocol, Query("users_ui", search="x" * 20_000)), opened(protocol)
    assert isinstance(long.failure, Rejected)
    assert "16384" in str(long.failure)
    assert said(protocol) == [Open(number(short), "users_ui")]


def test_words_of_a_newer_gateway_are_passed_over_and_frames_that_are_none_are_not() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    protocol.receive_text('{"type":"weather","sky":"blue"}', NOW)
    with pytest.raises(BrokenPromise):
        protocol.receive_frame(b"short", NOW)


def test_hearts_go_first() -> None:
    send_queue = LiveProtocol().send_queue
    send_queue.put(Open(1, "a"))
    send_queue.put(Heart())
    assert [send_queue.take(), send_queue.take(), send_queue.take()] == [
        encode(Heart()),
        encode(Open(1, "a")),
        None,
    ]


def test_a_close_takes_back_what_was_not_said_yet() -> None:
    send_queue = LiveProtocol().send_queue
    send_queue.put(Open(1, "a"))
    send_queue.put(Move(1, 5))
    send_queue.put(Close(1))
    assert send_queue.take() is None
    send_queue.put(Move(2, 5))
    send_queue.put(Close(2))
    assert send_queue.take() == encode(Close(2))


def test_a_window_after_one_that_is_too_large_is_opened() -> None:
    protocol = LiveProtocol()
    large = opened(protocol, Query("users_ui", search="x" * 20_000))
    small = opened(protocol)
    protocol.connected()
    protocol.receive_text(welcome(), NOW)
    assert isinstance(large.failure, Rejected)
    assert said(protocol) == [Hello(1), Open(number(small), "users_ui")]


def test_the_sender_is_told_of_a_retry_that_is_due_later() -> None:
    told: list[None] = []
    protocol = LiveProtocol(lambda: told.append(None))
    logged_in(protocol)
    subscription = opened(protocol)
    said(protocol)
    told.clear()
    protocol.receive_text(encode(failed(Code.NOT_READY, "later", number(subscription))), NOW)
    assert told
    assert protocol.retry(NOW) == RETRY_SECONDS
