from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import TypeVar

import msgspec
import pytest

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.access_key import AccessKey
from evergrid.gateway.access.limits import ConnectionCounter
from evergrid.gateway.access.request_error import RequestError
from evergrid.gateway.engine.deliveries import Rejected, StateChanged
from evergrid.gateway.live.live_session import (
    HEARTBEAT_SECONDS,
    SILENCE_SECONDS,
    LiveSession,
    SessionContext,
)
from evergrid.gateway.live.session_actions import (
    Action,
    CloseWindow,
    EndConnection,
    MoveWindow,
    OpenWindow,
    SendMessage,
)
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import (
    Closed,
    Failed,
    Live,
    Resume,
    ServerHeart,
    State,
    Welcome,
    WindowState,
)
from evergrid.views.predicate import MAX_NESTING
from evergrid.views.view_query import Window
from tests.support.local_gateway import LIMITS

Kind = TypeVar("Kind")

GONE = RequestError(Code.BAD_KEY, "this key was removed.")
EXPIRED = RequestError(Code.KEY_EXPIRED, "this key has expired.")


class Ring:
    """Keys by their secrets."""

    def __init__(self) -> None:
        self.keys = {
            "secret": AccessKey("me", "", ("users_*", "people")),
            "other": AccessKey("you", ""),
        }
        self.problem: RequestError | None = None

    def find(self, secret: str) -> AccessKey:
        if secret not in self.keys:
            raise GONE
        return self.keys[secret]

    def current(self, key: AccessKey) -> AccessKey:
        found = [now for now in self.keys.values() if now.name == key.name]
        if self.problem or not found:
            raise self.problem or GONE
        return found[0]


class Talk:
    """A session with a clock that is moved by hand."""

    def __init__(self, proved: AccessKey | None = None, limits: GatewayLimits = LIMITS) -> None:
        self.ring = Ring()
        self.now = 100.0
        numbers = count(1)
        context = SessionContext("i1", "0.1", limits, self.ring, lambda: next(numbers))
        slot = ConnectionCounter(limits).take(proved.name if proved else None)
        self.session = LiveSession(context, slot, proved, self.now, 1.0)

    def text(self, text: str) -> list[Action]:
        return list(self.session.receive(text, self.now))

    def say(self, **message: object) -> list[Action]:
        return self.text(json.dumps(message))

    def check(self, seconds: float) -> list[Action]:
        self.now += seconds
        return list(self.session.check(self.now, 42))

    def open(self, sub: int, table: str = "people", **more: object) -> list[Action]:
        return self.say(type="open", sub=sub, table=table, **more)


def only(kind: type[Kind], actions: list[Action]) -> Kind:
    assert len(actions) == 1, actions
    action = actions[0].message if isinstance(actions[0], SendMessage) else actions[0]
    assert isinstance(action, kind), actions
    return action


def ended(actions: list[Action]) -> Code:
    return only(EndConnection, actions).code


def refused(actions: list[Action]) -> tuple[str, int | None]:
    failure = only(Failed, actions)
    assert not failure.fatal
    return failure.code, failure.sub


@pytest.fixture
def talk() -> Talk:
    logged_in = Talk()
    only(Welcome, logged_in.say(type="hello", protocol=1, key="secret"))
    return logged_in


def test_a_good_key_in_the_first_message_is_welcome() -> None:
    welcome = only(Welcome, Talk().say(type="hello", protocol=1, key="secret"))
    assert (welcome.key, welcome.instance, welcome.max_rows) == ("me", "i1", LIMITS.window_rows)


def test_a_key_of_the_handshake_needs_no_repeating() -> None:
    proved = Talk(AccessKey("me", ""))
    assert only(Welcome, proved.say(type="hello", protocol=1)).key == "me"


def test_hello_cannot_change_the_key_of_the_handshake() -> None:
    proved = Talk(AccessKey("me", ""))
    assert ended(proved.say(type="hello", protocol=1, key="other")) is Code.BAD_KEY


def test_a_key_of_the_handshake_does_not_make_hello_needless() -> None:
    assert ended(Talk(AccessKey("me", "")).open(1)) is Code.NOT_LOGGED_IN


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"type": "hello", "protocol": 1}, Code.NOT_LOGGED_IN),
        ({"type": "hello", "protocol": 1, "key": "wrong"}, Code.BAD_KEY),
        ({"type": "hello", "protocol": 2, "key": "secret"}, Code.UNSUPPORTED_PROTOCOL),
        ({"type": "hello", "protocol": -1, "key": "secret"}, Code.UNSUPPORTED_PROTOCOL),
        ({"type": "heart"}, Code.NOT_LOGGED_IN),
        ({"type": "close", "sub": 1}, Code.NOT_LOGGED_IN),
        ({"type": "open", "sub": 1, "table": "t", "filter": {"op": "x"}}, Code.BAD_MESSAGE),
    ],
)
def test_nothing_is_done_for_strangers(message: dict[str, object], code: Code) -> None:
    assert ended(Talk().say(**message)) is code


def test_hello_is_said_once(talk: Talk) -> None:
    assert ended(talk.say(type="hello", protocol=1, key="secret")) is Code.ALREADY_LOGGED_IN


def test_hello_must_come_in_time() -> None:
    late = Talk()
    assert late.check(LIMITS.login_seconds) == []
    assert ended(late.check(0.1)) is Code.LOGIN_LATE


def test_a_key_has_so_many_connections() -> None:
    limits = msgspec.structs.replace(LIMITS, connections_per_key=0)
    crowded = Talk(limits=limits)
    assert ended(crowded.say(type="hello", protocol=1, key="secret")) is Code.TOO_MANY_CONNECTIONS


def test_an_open_window_goes_to_the_engine_with_all_it_asks_for(talk: Talk) -> None:
    opened = only(
        OpenWindow,
        talk.open(
            4_294_967_295,
            columns=["name"],
            filter={"column": "age", "op": "greater", "value": 3},
            search="x",
            order=[{"column": "name", "descending": True}],
            offset=-10,
            limit=10,
            resume={"instance": "i0", "sequence": 9},
        ),
    )
    assert opened.query.table == "people"
    assert opened.query.columns == ("name",)
    assert opened.window == Window(-10, 10)
    assert opened.resume == Resume("i0", 9)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"table": "secrets"}, Code.NO_RIGHTS),
        ({"table": "a b"}, Code.BAD_TABLE_NAME),
        ({"table": "people; drop table people"}, Code.BAD_TABLE_NAME),
        ({"table": ""}, Code.BAD_TABLE_NAME),
        ({"table": "people\n"}, Code.BAD_TABLE_NAME),
        ({"table": "pеople"}, Code.BAD_TABLE_NAME),
        ({"offset": 2**53 + 1}, Code.BAD_WINDOW),
        ({"offset": -(2**53) - 1}, Code.BAD_WINDOW),
        ({"offset": 10**300}, Code.BAD_WINDOW),
        ({"limit": 0}, Code.BAD_WINDOW),
        ({"limit": -1}, Code.BAD_WINDOW),
        ({"limit": LIMITS.window_rows + 1}, Code.BAD_WINDOW),
        ({"filter": {"op": "like"}}, Code.BAD_FILTER),
        ({"filter": {"kolumn": "x"}}, Code.BAD_FILTER),
        ({"filter": []}, Code.BAD_FILTER),
        ({"order": [{"column": "a", "nulls": "middle"}]}, Code.BAD_ORDER),
        ({"order": [{}]}, Code.BAD_ORDER),
        ({"order": "name"}, Code.BAD_ORDER),
    ],
)
def test_what_one_window_asks_wrongly_costs_that_window_alone(
    talk: Talk, change: dict[str, object], code: Code
) -> None:
    only(OpenWindow, talk.open(1))
    assert refused(talk.say(**({"type": "open", "sub": 2, "table": "people"} | change))) == (
        code.value,
        2,
    )
    only(MoveWindow, talk.say(type="move", sub=1, offset=5))


def test_no_rights_names_the_table(talk: Talk) -> None:
    assert "secrets" in only(Failed, talk.open(1, "secrets")).message


def test_a_filter_may_be_deep_but_not_bottomless(talk: Talk) -> None:
    def nested(depth: int) -> dict[str, object]:
        inner: dict[str, object] = {"column": "age", "op": "is_null"}
        for _ in range(depth - 1):
            inner = {"and": [inner]}
        return inner

    only(OpenWindow, talk.open(1, filter=nested(MAX_NESTING)))
    assert refused(talk.open(2, filter=nested(MAX_NESTING + 1))) == (Code.BAD_FILTER.value, 2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        '"hello"',
        "{",
        "{}",
        '{"type":"drop"}',
        '{"type":7}',
        '{"type":"close"}',
        '{"type":"close","sub":"1"}',
        '{"type":"close","sub":1.5}',
        '{"type":"close","sub":true}',
        '{"type":"close","sub":null}',
        '{"type":"close","sub":-1}',
        '{"type":"close","sub":4294967296}',
        '{"type":"close","sub":1e400}',
        '{"type":"close","sub":1,"table":"people"}',
        '{"type":"heart"}{"type":"heart"}',
        '{"type":"open","sub":1}',
        '{"type":"open","sub":1,"table":null}',
        '{"type":"open","sub":1,"table":"people","columns":"name"}',
        '{"type":"open","sub":1,"table":"people","columns":[1]}',
        '{"type":"open","sub":1,"table":"people","resume":{"instance":1,"sequence":"x"}}',
        '{"type":"open","sub":1,"table":"\\ud800"}',
        '{"type":"open","sub":1,"table":"people","offset":"0"}',
        '{"type":"open","sub":1,"table":"people","rows":[]}',
        '{"type":"upsert","table":"people","rows":[]}',
        "[" * 5000,
        '{"a":' * 3000,
    ],
)
def test_what_is_no_message_ends_the_connection(talk: Talk, text: str) -> None:
    assert ended(talk.text(text)) is Code.BAD_MESSAGE


def test_a_filter_beyond_any_stack_ends_the_connection(talk: Talk) -> None:
    filter_ = '{"and":[' * 1900 + "]}" * 1900
    code = talk.text('{"type":"open","sub":1,"table":"people","filter":' + filter_ + "}")
    assert ended(code) in (Code.BAD_MESSAGE, Code.TOO_LARGE)


def test_a_message_has_so_many_bytes(talk: Talk) -> None:
    most = LIMITS.message_bytes
    room = most - len('{"type":"open","sub":1,"table":"people","search":""}')
    fits = '{"type":"open","sub":1,"table":"people","search":"' + "x" * room + '"}'
    only(OpenWindow, talk.text(fits))
    assert ended(talk.text(fits.replace("x", "xx", 1))) is Code.TOO_LARGE


def test_bytes_are_counted_and_not_characters(talk: Talk) -> None:
    text = '{"type":"open","sub":1,"table":"people","search":"' + "é" * 9000 + '"}'
    assert len(text) < LIMITS.message_bytes
    assert ended(talk.text(text)) is Code.TOO_LARGE


def test_messages_are_so_many_a_second(talk: Talk) -> None:
    allowed = 2 * LIMITS.messages_per_second - 1  # hello was one
    for _ in range(allowed):
        assert talk.say(type="heart") == []
    assert ended(talk.say(type="heart")) is Code.TOO_MANY_MESSAGES


def test_pings_count_as_messages(talk: Talk) -> None:
    endings = [
        list(talk.session.receive_ping(talk.now)) for _ in range(2 * LIMITS.messages_per_second)
    ]
    assert ended(endings[-1]) is Code.TOO_MANY_MESSAGES


def test_a_number_names_one_window_at_a_time(talk: Talk) -> None:
    first = only(OpenWindow, talk.open(1))
    assert refused(talk.open(1)) == (Code.SUB_IN_USE.value, 1)
    talk.say(type="close", sub=1)
    assert only(OpenWindow, talk.open(1)).subscriber != first.subscriber


@pytest.mark.parametrize("message", [{"type": "move", "offset": 1}, {"type": "close"}])
def test_windows_that_are_not_open_are_not_known(talk: Talk, message: dict[str, object]) -> None:
    assert refused(talk.say(sub=3, **message)) == (Code.UNKNOWN_SUB.value, 3)


def test_a_move_is_checked_like_an_open(talk: Talk) -> None:
    opened = only(OpenWindow, talk.open(1))
    moved = only(MoveWindow, talk.say(type="move", sub=1, offset=-7, limit=7))
    assert (moved.subscriber, moved.window) == (opened.subscriber, Window(-7, 7))
    assert refused(talk.say(type="move", sub=1, offset=0, limit=0)) == (Code.BAD_WINDOW.value, 1)


def test_closed_is_the_last_word_about_a_window(talk: Talk) -> None:
    opened = only(OpenWindow, talk.open(1))
    closed, said = talk.say(type="close", sub=1)
    assert closed == CloseWindow(1, opened.subscriber)
    assert said == SendMessage(Closed(1))
    state = WindowState(Live.LIVE, "")
    assert list(talk.session.state_changed(StateChanged(opened.subscriber, state))) == []
    assert list(talk.session.rejected(Rejected(opened.subscriber, Code.BAD_VALUE, ""))) == []


def test_windows_are_so_many(talk: Talk) -> None:
    for sub in range(LIMITS.windows_per_connection):
        only(OpenWindow, talk.open(sub))
    assert refused(talk.open(999)) == (Code.TOO_MANY_WINDOWS.value, 999)
    talk.say(type="close", sub=0)
    only(OpenWindow, talk.open(999))


def test_what_the_engine_says_is_told_under_the_clients_number(talk: Talk) -> None:
    opened = only(OpenWindow, talk.open(8))
    stale = WindowState(Live.STALE, "Kafka is away.", 5)
    told = list(talk.session.state_changed(StateChanged(opened.subscriber, stale)))
    assert only(State, told) == State(Live.STALE, "Kafka is away.", 5, sub=8)
    code = Code.UNKNOWN_COLUMN.value
    waiting = WindowState(Live.WAITING, "No note.", done=1, total=2, code=code)
    told = list(talk.session.state_changed(StateChanged(opened.subscriber, waiting)))
    state = State(Live.WAITING, "No note.", done=1, total=2, code=code, sub=8)
    assert only(State, told) == state


def test_what_the_engine_refuses_frees_the_number(talk: Talk) -> None:
    opened = only(OpenWindow, talk.open(8))
    gone, said = talk.session.rejected(Rejected(opened.subscriber, Code.UNKNOWN_COLUMN, "no."))
    assert gone == CloseWindow(8, opened.subscriber, by_engine=True)
    assert refused([said]) == (Code.UNKNOWN_COLUMN.value, 8)
    only(OpenWindow, talk.open(8))


def test_hearts_beat_and_silence_ends(talk: Talk) -> None:
    assert only(ServerHeart, talk.check(HEARTBEAT_SECONDS)).time == 42
    assert talk.check(HEARTBEAT_SECONDS / 2) == []
    talk.say(type="heart")
    talk.check(SILENCE_SECONDS)
    assert ended(talk.check(0.1)) is Code.SILENT


def test_who_is_busy_reading_is_not_silent(talk: Talk) -> None:
    talk.check(SILENCE_SECONDS)
    talk.session.is_reading(talk.now)
    assert not any(isinstance(action, EndConnection) for action in talk.check(1))


@pytest.mark.parametrize("problem", [GONE, EXPIRED])
def test_a_key_that_opens_no_more_ends_the_connection(talk: Talk, problem: RequestError) -> None:
    talk.ring.problem = problem
    assert ended(talk.check(1)) is problem.code


def test_a_key_that_lost_a_table_loses_its_windows_on_it(talk: Talk) -> None:
    kept = only(OpenWindow, talk.open(1, "users_ui"))
    lost = only(OpenWindow, talk.open(2))
    talk.ring.keys["secret"] = AccessKey("me", "", ("users_*",))
    gone, said = talk.check(1)
    assert gone == CloseWindow(2, lost.subscriber)
    assert refused([said]) == (Code.NO_RIGHTS.value, 2)
    assert talk.session.subscribers == (kept.subscriber,)
    assert refused(talk.open(3)) == (Code.NO_RIGHTS.value, 3)


@pytest.mark.parametrize(
    "more",
    [
        lambda talk: talk.say(type="heart"),
        lambda talk: talk.check(100),
        lambda talk: list(talk.session.end(Code.SHUTTING_DOWN, "")),
        lambda talk: list(talk.session.receive_ping(talk.now)),
    ],
)
def test_nothing_follows_the_end(talk: Talk, more: Callable[[Talk], list[Action]]) -> None:
    assert ended(talk.text("x")) is Code.BAD_MESSAGE
    assert more(talk) == []
