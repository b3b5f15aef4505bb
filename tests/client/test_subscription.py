"""One window through frames, cuts and other gateways: never older, never falsely fresh."""

from __future__ import annotations

import datetime

import pyarrow as pa

from evergrid.client.live_protocol import LiveProtocol
from evergrid.client.subscription import MAX_FRAME_ERRORS
from evergrid.model.errors import BrokenPromise
from evergrid.protocol.messages import (
    Close,
    Live,
    Open,
    Resume,
)
from evergrid.views.view_query import Window
from tests.client.gateway_messages import SCHEMA, difference, full, row, state
from tests.client.protocol_driver import NOW, ids, logged_in, number, opened, said


def test_a_window_is_taken_once_and_is_the_newest() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    sub = number(subscription)
    protocol.receive_text(state(sub, Live.LIVE), NOW)
    assert subscription.take() is None, "live without rows is no news"
    protocol.receive_frame(full(sub, 1, [row(1)]), NOW)
    protocol.receive_frame(difference(sub, 2, 1, ((0, 1), (-1, 1)), [row(2)], total=9), NOW)
    window = subscription.take()
    assert window is not None
    assert (window.sequence, window.total, window.state) == (2, 9, Live.LIVE)
    assert window.rows.num_rows == 2
    assert subscription.take() is None


def test_a_table_that_is_not_there_is_said_so_and_comes_alive() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    protocol.receive_text(state(number(subscription), Live.WAITING, "no table users_ui yet"), NOW)
    window = subscription.take()
    assert window is not None
    assert (window.state, window.message) == (Live.WAITING, "no table users_ui yet")
    assert (window.rows.num_rows, window.sequence) == (0, 0)
    protocol.receive_text(state(number(subscription), Live.LIVE), NOW)
    protocol.receive_frame(full(number(subscription), 1, [row(1)]), NOW)
    window = subscription.take()
    assert window is not None
    assert window.live
    assert window.rows.num_rows == 1


def test_after_a_cut_windows_are_stale_since_the_last_word_and_resume() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    protocol.receive_frame(full(number(subscription), 5, [row(1)]), NOW + 3)
    protocol.disconnected("the line is cut")
    window = subscription.take()
    assert window is not None
    assert (window.state, window.message) == (Live.STALE, "the line is cut")
    assert window.stale_since == datetime.datetime.fromtimestamp(NOW + 3, datetime.UTC)
    assert window.rows.num_rows == 1, "the last rows stay on the screen"

    [opening] = logged_in(protocol)
    assert isinstance(opening, Open)
    assert opening.resume == Resume("first", 5)
    protocol.receive_text(state(opening.sub, Live.LIVE), NOW)
    window = subscription.take()
    assert window is not None
    assert (window.state, window.stale_since, window.sequence) == (Live.LIVE, None, 5)
    protocol.receive_frame(difference(opening.sub, 6, 5, ((0, 1), (-1, 1)), [row(2)]), NOW)
    assert ids(subscription) == ["0:1", "0:2"]


def test_a_frame_after_a_cut_says_that_the_window_is_live_again() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    protocol.receive_frame(full(number(subscription), 5, [row(1)]), NOW)
    protocol.disconnected("cut")
    logged_in(protocol)
    protocol.receive_frame(full(number(subscription), 6, [row(2)]), NOW)
    assert subscription.newest().live


def test_another_gateway_starts_from_nothing_and_its_numbers_may_be_lower() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    protocol.receive_frame(full(number(subscription), 50, [row(1)]), NOW)
    protocol.disconnected("restarted")
    [opening] = logged_in(protocol, "second")
    assert isinstance(opening, Open)
    assert opening.resume == Resume("second", 0), "it is known not to be a first question"
    protocol.receive_frame(full(opening.sub, 2, [row(2)]), NOW)
    assert ids(subscription) == ["0:2"]


def test_a_difference_that_does_not_fit_makes_the_window_open_anew() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    first = number(subscription)
    protocol.receive_frame(full(first, 1, [row(1)]), NOW)
    said(protocol)
    protocol.receive_frame(difference(first, 3, 2, ((0, 1),), []), NOW)
    second = number(subscription)
    anew = Open(second, "users_ui", resume=Resume("first", 0))
    assert said(protocol) == [Close(first), anew]
    assert ids(subscription) == ["0:1"], "the last good rows stay"
    protocol.receive_frame(full(second, 4, [row(2)]), NOW)
    assert ids(subscription) == ["0:2"]


def test_an_older_state_makes_the_window_open_anew() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    first = number(subscription)
    protocol.receive_frame(full(first, 7, [row(1)]), NOW)
    protocol.receive_frame(full(first, 6, [row(2)]), NOW)
    assert number(subscription) != first
    assert subscription.newest().sequence == 7


def test_a_gateway_that_never_keeps_its_promise_ends_the_window() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    for _ in range(MAX_FRAME_ERRORS):
        protocol.receive_frame(difference(number(subscription), 3, 2, ((0, 1),), []), NOW)
    assert isinstance(subscription.failure, BrokenPromise)
    assert logged_in(protocol) == []


def test_a_moved_window_may_have_lower_numbers_and_is_not_resumed() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    protocol.receive_frame(full(number(subscription), 50, [row(1)]), NOW)
    protocol.move(subscription, Window(100, 50))
    protocol.receive_frame(difference(number(subscription), 51, 50, ((0, 1),), []), NOW)
    protocol.receive_frame(full(number(subscription), 12, [row(2)], offset=100), NOW)
    assert subscription.newest().offset == 100
    assert ids(subscription) == ["0:2"]
    protocol.disconnected("cut")
    [opening] = logged_in(protocol)
    assert isinstance(opening, Open)
    assert (opening.window, opening.resume) == (Window(100, 50), Resume("first", 0))


def test_a_new_schema_comes_with_a_full_window() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    protocol.receive_frame(full(number(subscription), 1, [row(1)]), NOW)
    wider = pa.schema([*SCHEMA, ("more", pa.bool_())])
    protocol.receive_frame(
        full(number(subscription), 2, [{**row(1), "more": True}], wider, generation=2), NOW
    )
    window = subscription.newest()
    assert window.generation == 2
    assert window.rows.schema.names == ["_id", "name", "size", "more"]


def test_rows_from_before_a_table_was_away_do_not_pass_for_fresh() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    sub = number(subscription)
    protocol.receive_text(state(sub, Live.LIVE), NOW)
    protocol.receive_frame(full(sub, 1, [row(1)]), NOW)
    protocol.receive_text(state(sub, Live.WAITING, "gone"), NOW)
    protocol.receive_text(state(sub, Live.LIVE), NOW)
    assert subscription.newest().state is Live.WAITING
    protocol.receive_frame(full(sub, 2, [row(2)], generation=2), NOW)
    assert subscription.newest().live
    assert ids(subscription) == ["0:2"]


def test_rows_of_another_gateway_do_not_pass_for_fresh() -> None:
    protocol = LiveProtocol()
    logged_in(protocol)
    subscription = opened(protocol)
    protocol.receive_frame(full(number(subscription), 5, [row(1)]), NOW)
    protocol.disconnected("restarted")
    logged_in(protocol, "second")
    protocol.receive_text(state(number(subscription), Live.LIVE), NOW)
    assert subscription.newest().state is Live.STALE
    protocol.receive_frame(full(number(subscription), 1, [row(2)]), NOW)
    assert subscription.newest().live
