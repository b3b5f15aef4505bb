"""The conversation with a gateway, word by word: windows outlive whatever happens to it."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from evergrid.client.desk import RETRY_SECONDS, Desk
from evergrid.client.errors import Denied, Rejected
from evergrid.client.subscription import MAX_BREAKS, Subscription
from evergrid.model.errors import BrokenPromise
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import (
    ClientMessage,
    Close,
    Closed,
    Heart,
    Hello,
    Live,
    Move,
    Open,
    Resume,
    ServerHeart,
    Welcome,
    decode_client,
    encode,
    failed,
)
from evergrid.views.query import Query, Window
from tests.client.scripted import SCHEMA, difference, full, row, state, welcome

NOW = 1_767_225_600.0
USERS = Query("users_ui")
TOP = Window(0, 300)


def said(desk: Desk) -> list[ClientMessage]:
    """All that waits to be said, in order."""
    messages: list[ClientMessage] = []
    while (text := desk.outbox.take()) is not None:
        messages.append(decode_client(text))
    return messages


def logged_in(desk: Desk, instance: str = "first") -> list[ClientMessage]:
    desk.connected()
    assert said(desk) == [Hello(1)]
    desk.text(welcome(instance), NOW)
    return said(desk)


def opened(desk: Desk, query: Query = USERS, window: Window = TOP) -> Subscription:
    return desk.open(query, window, lambda: None)


def number(subscription: Subscription) -> int:
    assert subscription.sub is not None
    return subscription.sub


def ids(subscription: Subscription) -> list[str]:
    rows: pa.Table = subscription.now().rows
    found: list[str] = rows["_id"].to_pylist()
    return found


def test_nothing_but_hello_is_said_before_the_welcome() -> None:
    desk = Desk()
    subscription = opened(desk)
    desk.connected()
    assert said(desk) == [Hello(1)]
    desk.text(welcome(), NOW)
    assert said(desk) == [Open(number(subscription), "users_ui")]


def test_each_heart_is_answered_with_a_heart() -> None:
    desk = Desk()
    logged_in(desk)
    desk.text(encode(ServerHeart(1)), NOW)
    desk.text(encode(ServerHeart(2)), NOW)
    assert said(desk) == [Heart()]


def test_a_window_is_taken_once_and_is_the_newest() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    sub = number(subscription)
    desk.text(state(sub, Live.LIVE), NOW)
    assert subscription.take() is None, "live without rows is no news"
    desk.binary(full(sub, 1, [row(1)]), NOW)
    desk.binary(difference(sub, 2, 1, ((0, 1), (-1, 1)), [row(2)], total=9), NOW)
    window = subscription.take()
    assert window is not None
    assert (window.sequence, window.total, window.state) == (2, 9, Live.LIVE)
    assert window.rows.num_rows == 2
    assert subscription.take() is None


def test_a_table_that_is_not_there_is_said_so_and_comes_alive() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    desk.text(state(number(subscription), Live.WAITING, "no table users_ui yet"), NOW)
    window = subscription.take()
    assert window is not None
    assert (window.state, window.message) == (Live.WAITING, "no table users_ui yet")
    assert (window.rows.num_rows, window.sequence) == (0, 0)
    desk.text(state(number(subscription), Live.LIVE), NOW)
    desk.binary(full(number(subscription), 1, [row(1)]), NOW)
    window = subscription.take()
    assert window is not None
    assert window.live
    assert window.rows.num_rows == 1


def test_windows_do_not_disturb_each_other() -> None:
    desk = Desk()
    logged_in(desk)
    one, two = opened(desk), opened(desk, Query("final_ui"))
    desk.binary(full(number(one), 1, [row(1)]), NOW)
    desk.binary(full(number(two), 1, [row(2)]), NOW)
    desk.text(encode(failed(Code.NO_RIGHTS, "not yours", number(one))), NOW)
    assert isinstance(one.failure, Denied)
    assert two.failure is None
    assert ids(two) == ["0:2"]


def test_after_a_cut_windows_are_stale_since_the_last_word_and_resume() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    desk.binary(full(number(subscription), 5, [row(1)]), NOW + 3)
    desk.lost("the line is cut")
    window = subscription.take()
    assert window is not None
    assert (window.state, window.message) == (Live.STALE, "the line is cut")
    assert window.stale_since == datetime.datetime.fromtimestamp(NOW + 3, datetime.UTC)
    assert window.rows.num_rows == 1, "the last rows stay on the screen"

    [opening] = logged_in(desk)
    assert isinstance(opening, Open)
    assert opening.resume == Resume("first", 5)
    desk.text(state(opening.sub, Live.LIVE), NOW)
    window = subscription.take()
    assert window is not None
    assert (window.state, window.stale_since, window.sequence) == (Live.LIVE, None, 5)
    desk.binary(difference(opening.sub, 6, 5, ((0, 1), (-1, 1)), [row(2)]), NOW)
    assert ids(subscription) == ["0:1", "0:2"]


def test_a_frame_after_a_cut_says_that_the_window_is_live_again() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    desk.binary(full(number(subscription), 5, [row(1)]), NOW)
    desk.lost("cut")
    logged_in(desk)
    desk.binary(full(number(subscription), 6, [row(2)]), NOW)
    assert subscription.now().live


def test_another_gateway_starts_from_nothing_and_its_numbers_may_be_lower() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    desk.binary(full(number(subscription), 50, [row(1)]), NOW)
    desk.lost("restarted")
    [opening] = logged_in(desk, "second")
    assert isinstance(opening, Open)
    assert opening.resume is None
    desk.binary(full(opening.sub, 2, [row(2)]), NOW)
    assert ids(subscription) == ["0:2"]


def test_late_frames_of_a_closed_window_reach_nobody() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    sub = number(subscription)
    said(desk)
    desk.close(subscription)
    assert said(desk) == [Close(sub)]
    desk.binary(full(sub, 1, [row(1)]), NOW)
    desk.text(state(sub, Live.STALE, "late"), NOW)
    desk.text(encode(Closed(sub)), NOW)
    assert subscription.take() is None
    assert len(desk) == 0


def test_numbers_are_never_used_twice_not_even_after_a_cut() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    first = number(subscription)
    desk.lost("cut")
    logged_in(desk)
    assert number(subscription) != first
    desk.binary(full(first, 9, [row(1)]), NOW)
    assert subscription.now().sequence == 0


def test_a_difference_that_does_not_fit_makes_the_window_open_anew() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    first = number(subscription)
    desk.binary(full(first, 1, [row(1)]), NOW)
    said(desk)
    desk.binary(difference(first, 3, 2, ((0, 1),), []), NOW)
    second = number(subscription)
    assert said(desk) == [Close(first), Open(second, "users_ui")]
    assert ids(subscription) == ["0:1"], "the last good rows stay"
    desk.binary(full(second, 4, [row(2)]), NOW)
    assert ids(subscription) == ["0:2"]


def test_an_older_state_makes_the_window_open_anew() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    first = number(subscription)
    desk.binary(full(first, 7, [row(1)]), NOW)
    desk.binary(full(first, 6, [row(2)]), NOW)
    assert number(subscription) != first
    assert subscription.now().sequence == 7


def test_a_gateway_that_never_keeps_its_promise_ends_the_window() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    for _ in range(MAX_BREAKS):
        desk.binary(difference(number(subscription), 3, 2, ((0, 1),), []), NOW)
    assert isinstance(subscription.failure, BrokenPromise)
    assert len(desk) == 0


def test_only_the_last_move_is_sent() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    said(desk)
    for offset in range(1, 100):
        desk.move(subscription, Window(offset, 50))
    desk.move(subscription, Window(99, 50))
    assert said(desk) == [Move(number(subscription), 99, 50)]


def test_a_moved_window_may_have_lower_numbers_and_is_not_resumed() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    desk.binary(full(number(subscription), 50, [row(1)]), NOW)
    desk.move(subscription, Window(100, 50))
    desk.binary(difference(number(subscription), 51, 50, ((0, 1),), []), NOW)
    desk.binary(full(number(subscription), 12, [row(2)], offset=100), NOW)
    assert subscription.now().offset == 100
    assert ids(subscription) == ["0:2"]
    desk.lost("cut")
    [opening] = logged_in(desk)
    assert isinstance(opening, Open)
    assert (opening.window, opening.resume) == (Window(100, 50), None)


def test_a_move_without_a_connection_is_remembered() -> None:
    desk = Desk()
    subscription = opened(desk)
    desk.move(subscription, Window(10, 20))
    [opening] = logged_in(desk)
    assert opening == Open(number(subscription), "users_ui", offset=10, limit=20)


def test_opened_and_closed_before_anything_was_said_says_nothing() -> None:
    desk = Desk()
    logged_in(desk)
    desk.close(opened(desk))
    assert said(desk) == []


def test_what_makes_sense_later_is_asked_for_again_later() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    first = number(subscription)
    said(desk)
    desk.text(encode(failed(Code.TOO_MANY_VIEWS, "no room", first)), NOW)
    window = subscription.take()
    assert window is not None
    assert window.state is Live.WAITING
    assert "no room" in window.message
    assert desk.due(NOW) == RETRY_SECONDS
    assert said(desk) == []
    assert desk.due(NOW + RETRY_SECONDS) is None
    assert said(desk) == [Open(number(subscription), "users_ui")]


def test_a_fault_of_the_question_ends_its_window_with_the_code() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    desk.text(encode(failed(Code.UNKNOWN_COLUMN, "no column agee", number(subscription))), NOW)
    error = subscription.failure
    assert isinstance(error, Rejected)
    assert error.code == "unknown_column"
    assert "users_ui: no column agee" in str(error)


def test_a_fatal_error_is_raised_and_says_whether_to_come_again() -> None:
    desk = Desk()
    desk.connected()
    with pytest.raises(Denied, match="EVERGRID_KEY") as denied:
        desk.text(encode(failed(Code.BAD_KEY, "unknown key")), NOW)
    assert not denied.value.retry
    with pytest.raises(Rejected) as rejected:
        desk.text(encode(failed(Code.SHUTTING_DOWN, "going down")), NOW)
    assert rejected.value.retry


def test_another_protocol_is_refused() -> None:
    desk = Desk()
    desk.connected()
    other = encode(Welcome(2, "x", "y", "z", False, 5.0, 1, 1, 1))
    with pytest.raises(Rejected, match="protocol 2") as rejected:
        desk.text(other, NOW)
    assert rejected.value.code == "unsupported_protocol"


def test_a_question_too_long_for_the_gateway_ends_only_its_window() -> None:
    desk = Desk()
    logged_in(desk)
    long, short = opened(desk, Query("users_ui", search="x" * 20_000)), opened(desk)
    assert isinstance(long.failure, Rejected)
    assert "16384" in str(long.failure)
    assert said(desk) == [Open(number(short), "users_ui")]


def test_words_of_a_newer_gateway_are_passed_over_and_frames_that_are_none_are_not() -> None:
    desk = Desk()
    logged_in(desk)
    desk.text('{"type":"weather","sky":"blue"}', NOW)
    with pytest.raises(BrokenPromise):
        desk.binary(b"short", NOW)


def test_a_new_schema_comes_with_a_full_window() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    desk.binary(full(number(subscription), 1, [row(1)]), NOW)
    wider = pa.schema([*SCHEMA, ("more", pa.bool_())])
    desk.binary(full(number(subscription), 2, [{**row(1), "more": True}], wider, generation=2), NOW)
    window = subscription.now()
    assert window.generation == 2
    assert window.rows.schema.names == ["_id", "name", "size", "more"]


def test_rows_from_before_a_table_was_away_do_not_pass_for_fresh() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    sub = number(subscription)
    desk.text(state(sub, Live.LIVE), NOW)
    desk.binary(full(sub, 1, [row(1)]), NOW)
    desk.text(state(sub, Live.WAITING, "gone"), NOW)
    desk.text(state(sub, Live.LIVE), NOW)
    assert subscription.now().state is Live.WAITING
    desk.binary(full(sub, 2, [row(2)], generation=2), NOW)
    assert subscription.now().live
    assert ids(subscription) == ["0:2"]


def test_rows_of_another_gateway_do_not_pass_for_fresh() -> None:
    desk = Desk()
    logged_in(desk)
    subscription = opened(desk)
    desk.binary(full(number(subscription), 5, [row(1)]), NOW)
    desk.lost("restarted")
    logged_in(desk, "second")
    desk.text(state(number(subscription), Live.LIVE), NOW)
    assert subscription.now().state is Live.STALE
    desk.binary(full(number(subscription), 1, [row(2)]), NOW)
    assert subscription.now().live
