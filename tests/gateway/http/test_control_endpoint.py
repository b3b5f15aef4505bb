"""Who may change the pipeline over HTTP, with what, how often, and what is left to tell of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evergrid.changelog.control_message import LARGEST_BYTES
from evergrid.gateway.access.access_key import PREFIX
from evergrid.protocol.error_codes import Code
from tests.gateway.caller import Answer, Caller, calling, wait_until
from tests.gateway.http.controlling import (
    BURST,
    JSON,
    MESSAGE,
    PATH,
    audited,
    expected,
    post,
    refused,
    served,
)
from tests.support.local_gateway import LocalGateway, RecordedMessage


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[LocalGateway]:
    running = served(tmp_path)
    with running:
        yield running


def test_a_message_is_handed_over_as_it_is_with_who_sent_it(gateway: LocalGateway) -> None:
    first, second = post(gateway, MESSAGE), post(gateway, b'{"joinType":"left"}')
    assert (first.status, json.loads(first.body)) == (202, {"sent": {"partition": 0, "offset": 0}})
    assert json.loads(second.body) == {"sent": {"partition": 0, "offset": 1}}
    assert gateway.handed_over == [
        RecordedMessage(MESSAGE, "key ops"),
        RecordedMessage(b'{"joinType":"left"}', "key ops"),
    ]
    assert audited(gateway)[0] == (
        f"Control: key ops: {MESSAGE.decode()}: sent to evergrid-control as 0:0."
    )


def test_what_may_be_asked_for_is_what_the_pipeline_says(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        answer = caller.ask(PATH, {"Authorization": f"Bearer {gateway.secrets['ops']}"})
    assert json.loads(answer.body) == {
        "control": {
            "topic": "evergrid-control",
            "topics": ["accounts", "users", "users_v2"],
            "sources": [
                {"name": "users", "field": "usersTopic", "topic": "users"},
                {"name": "accounts", "field": "accountsTopic", "topic": "accounts"},
            ],
            "joins": [{"name": "final", "field": "joinType", "type": "left"}],
            "types": ["asof", "left", "inner"],
        }
    }
    assert answer.headers["cache-control"] == "no-store"


def test_before_any_pipeline_nothing_is_offered(tmp_path: Path) -> None:
    gateway = LocalGateway(tmp_path)
    gateway.new_key("ops", control=True)
    with gateway, calling(gateway) as caller:
        answer = caller.ask(PATH, {"Authorization": f"Bearer {gateway.secrets['ops']}"})
        offered = json.loads(answer.body)["control"]
        assert (offered["topic"], offered["topics"], offered["sources"]) == ("", [], [])
        assert post(gateway, MESSAGE).status == 202


def test_a_key_without_the_right_learns_and_changes_nothing(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        answer = caller.ask(PATH, {"Authorization": f"Bearer {gateway.secrets['wall']}"})
    assert refused(answer) == expected(Code.NO_RIGHTS)
    assert b"users" not in answer.body
    assert refused(post(gateway, MESSAGE, "wall")) == expected(Code.NO_RIGHTS)
    assert gateway.handed_over == []
    (line,) = audited(gateway)
    assert line.startswith(f"Control: key wall: {MESSAGE.decode()}: no_rights: ")


def test_a_right_that_is_taken_away_is_gone(gateway: LocalGateway) -> None:
    assert post(gateway, MESSAGE).status == 202
    gateway.remove_key("ops")
    wait_until(lambda: post(gateway, MESSAGE).code == "bad_key", "the key to be gone")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"joinType=left", "not valid JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'"left"', "not a JSON object"),
        (b"[" * 10_000, "not valid JSON"),
        (b'{"joinType": NaN}', "not a number"),
        (b'{"joinType": "left", "joinType": "asof"}', "the same field twice"),
        (b"{}", "asks for nothing"),
        (b'{"joinType": null}', "asks for nothing"),
        (b'{"joinType": "outer"}', "expected one of asof, left, inner"),
        (b'{"joinType": ["left"]}', "expected one of asof, left, inner"),
        (b'{"joinType": "\\ud83d"}', r'joinType is "\ud83d", expected one of asof'),
        (b'{"usersTopic": 7}', "expected the name of a Kafka topic"),
        (b'{"usersTopic": "../x"}', "expected the name of a Kafka topic"),
        (b'{"usersTopic": "salaries"}', "topic salaries is not allowed"),
        (b'{"usersTopic": "evergrid.manifest"}', "one of Evergrid's own"),
        (b'{"usersTopic": "evergrid-control"}', "one of Evergrid's own"),
        (b'{"userTopic": "users"}', "there is no 'userTopic' to set"),
        (b'{"__proto__": {}}', "there is no '__proto__' to set"),
        (b'{"joinType": "left"} {}', "not valid JSON"),
    ],
)
def test_what_is_no_control_message_is_refused_with_the_reason(
    gateway: LocalGateway, body: bytes, reason: str
) -> None:
    answer = post(gateway, body)
    assert refused(answer) == expected(Code.BAD_CONTROL)
    assert reason in json.loads(answer.body)["error"]["message"]
    assert gateway.handed_over == []
    assert len(gateway.said) == 1


@pytest.mark.parametrize(
    "type_",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
    ],
)
def test_what_does_not_say_that_it_is_json_is_refused(gateway: LocalGateway, type_: str) -> None:
    assert refused(post(gateway, MESSAGE, Content_Type=type_)) == expected(Code.BAD_CONTENT_TYPE)
    assert gateway.handed_over == []


def test_packed_messages_are_refused_also_those_that_would_grow(gateway: LocalGateway) -> None:
    packed = post(gateway, gzip.compress(MESSAGE), Content_Encoding="gzip")
    assert refused(packed) == expected(Code.BAD_CONTENT_TYPE)
    bomb = post(gateway, gzip.compress(b" " * 10_000_000), Content_Encoding="gzip")
    assert refused(bomb) == expected(Code.TOO_LARGE)
    nonsense = post(gateway, MESSAGE, Content_Encoding="gzip")
    assert refused(nonsense) == expected(Code.BAD_PARAMETER)
    assert gateway.handed_over == []


def test_json_may_say_its_charset(gateway: LocalGateway) -> None:
    assert post(gateway, MESSAGE, Content_Type=f"{JSON}; charset=utf-8").status == 202


def test_the_largest_message_passes_and_a_larger_one_does_not(gateway: LocalGateway) -> None:
    largest = MESSAGE + b" " * (LARGEST_BYTES - len(MESSAGE))
    assert post(gateway, largest).status == 202
    assert refused(post(gateway, largest + b" ")) == expected(Code.TOO_LARGE)
    assert refused(post(gateway, b"x" * 1_000_000)) == expected(Code.TOO_LARGE)
    assert len(gateway.handed_over) == 1


def test_a_message_in_chunks_is_one_message(gateway: LocalGateway) -> None:
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (MESSAGE[:9], MESSAGE[9:]))
    answer = sent_raw(gateway, chunks + b"0\r\n\r\n", "Transfer-Encoding: chunked")
    assert answer.status == 202
    assert gateway.handed_over[0].value == MESSAGE
    broken = sent_raw(gateway, b"zz\r\n{}\r\n", "Transfer-Encoding: chunked")
    assert refused(broken) == expected(Code.BAD_PARAMETER)


def sent_raw(gateway: LocalGateway, body: bytes, *headers: str) -> Answer:
    with calling(gateway) as caller:
        caller.send(head(caller, *headers) + body)
        return caller.answer()


def head(caller: Caller, *headers: str) -> bytes:
    assert isinstance(caller.gateway, LocalGateway)
    lines = (
        f"POST {PATH} HTTP/1.1",
        f"Host: {caller.host()}",
        f"Authorization: Bearer {caller.gateway.secrets['ops']}",
        f"Content-Type: {JSON}",
        "Connection: close",
        *headers,
    )
    return "\r\n".join([*lines, "", ""]).encode()


def test_a_message_that_never_comes_is_given_up(
    gateway: LocalGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evergrid.gateway.http.control_endpoint._BODY_SECONDS", 0.3)
    with calling(gateway) as caller:
        caller.send(head(caller, "Content-Length: 100") + b"{")
        assert refused(Answer(caller.socket.recv(65536))) == expected(Code.SILENT)


def test_who_hangs_up_in_the_middle_harms_nobody(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        caller.send(head(caller, "Content-Length: 100") + b"{")
    assert post(gateway, MESSAGE).status == 202
    assert len(gateway.said) == 1


def test_keys_hosts_and_origins_are_looked_at_as_everywhere(gateway: LocalGateway) -> None:
    own = f"http://127.0.0.1:{gateway.port}"
    assert post(gateway, MESSAGE, Origin=own).status == 202
    foreign = post(gateway, MESSAGE, Origin="https://boards.example")
    assert foreign.status == 202
    assert foreign.headers["access-control-allow-origin"] == "https://boards.example"
    evil = post(gateway, MESSAGE, Origin="https://evil.example")
    assert refused(evil) == expected(Code.ORIGIN_REFUSED)
    assert refused(post(gateway, MESSAGE, Origin="null")) == expected(Code.ORIGIN_REFUSED)
    assert refused(post(gateway, MESSAGE, Host="evil.example")) == expected(Code.HOST_REFUSED)
    assert refused(post(gateway, MESSAGE, "")) == expected(Code.NOT_LOGGED_IN)
    # A page of ours that brings no key: there are no cookies that could.
    assert refused(post(gateway, MESSAGE, "", Origin=own)) == expected(Code.NOT_LOGGED_IN)
    wrong = post(gateway, MESSAGE, Authorization="Bearer eg_wrong")
    assert refused(wrong) == expected(Code.BAD_KEY)
    with calling(gateway) as caller:
        in_address = caller.ask(f"{PATH}?key={gateway.secrets['ops']}", {}, "POST", MESSAGE)
    assert refused(in_address) == expected(Code.KEY_IN_ADDRESS)
    assert len(gateway.handed_over) == 2


def test_nothing_but_get_and_post_and_nowhere_else(gateway: LocalGateway) -> None:
    bearer = {"Authorization": f"Bearer {gateway.secrets['ops']}", "Content-Type": JSON}
    for method in ("PUT", "PATCH", "DELETE", "TRACE"):
        with calling(gateway) as caller:
            answer = caller.ask(PATH, bearer, method, MESSAGE)
        assert refused(answer) == expected(Code.METHOD_NOT_ALLOWED)
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"
    for other in ("/api/tables", "/api/pipeline", "/api/live", "/", "/livez", "/api/control/x"):
        with calling(gateway) as caller:
            answer = caller.ask(other, bearer, "POST", MESSAGE)
        assert refused(answer) == expected(Code.METHOD_NOT_ALLOWED), other
    assert gateway.handed_over == []


def test_a_preflight_is_told_that_it_may_post(gateway: LocalGateway) -> None:
    page = {"Origin": "https://boards.example", "Authorization": ""}
    with calling(gateway) as caller:
        answer = caller.ask(PATH, {**page, "Access-Control-Request-Method": "POST"}, "OPTIONS")
    assert (answer.status, answer.headers["allow"]) == (204, "GET, HEAD, OPTIONS, POST")
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "Content-Type" in answer.headers["access-control-allow-headers"]
    with calling(gateway) as caller:
        answer = caller.ask("/api/tables", {**page}, "OPTIONS")
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


def test_a_key_that_asks_too_often_is_told_and_the_log_stays_short(gateway: LocalGateway) -> None:
    answers = [post(gateway, MESSAGE) for _ in range(5 * BURST)]
    over = [answer for answer in answers if answer.status != 202]
    assert over
    assert {refused(answer) for answer in over} == {expected(Code.TOO_MANY_MESSAGES)}
    assert over[0].headers["retry-after"] == "1"
    assert json.loads(over[0].body)["error"]["retry"] is True
    sent = len(answers) - len(over)
    assert len(gateway.handed_over) == sent
    assert sent >= BURST
    # One line for each that was sent, and one for each time that the limit was met anew.
    lines = [line for line in gateway.said if "too_many_messages" in line]
    assert 1 <= len(lines) < len(over)
    assert len(gateway.said) == sent + len(lines)
    # Others have not lost their turn, and this key gets it back.
    assert refused(post(gateway, MESSAGE, "wall")) == expected(Code.NO_RIGHTS)
    wait_until(lambda: post(gateway, MESSAGE).status == 202, "a turn")


def test_the_log_is_safe_to_read_whatever_was_sent(gateway: LocalGateway) -> None:
    secret = gateway.secrets["ops"]
    post(gateway, f'{{"usersTopic": "{secret}"}}'.encode())
    post(gateway, b'{"x\x1b[2J\nControl: key boss": 1}')
    post(gateway, b'{"usersTopic": "' + b"u" * 10_000 + b'"}')
    assert len(gateway.said) == 3
    assert secret not in "".join(gateway.said)
    assert f'{{"usersTopic": "{PREFIX}***"}}' in gateway.said[0]
    assert all(line.isprintable() for line in gateway.said)
    assert max(map(len, gateway.said)) < 1000


def test_metrics_count_what_became_of_them(gateway: LocalGateway) -> None:
    post(gateway, MESSAGE)
    post(gateway, b"{}")
    post(gateway, MESSAGE, "wall")
    with calling(gateway) as caller:
        shown = caller.ask("/metrics").body.decode()
    for verdict in ("sent", "bad_control", "no_rights"):
        assert f'evergrid_control_requests_total{{verdict="{verdict}"}} 1\n' in shown
