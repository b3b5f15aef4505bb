"""Every hostile or malformed thing has its exact code, and harms nobody else."""

from __future__ import annotations

import json
import random
import socket
import struct
from collections.abc import Iterator

import pytest

from evergrid.protocol.error_codes import Code
from tests.gateway.caller import BINARY, CLOSE, PING, PONG, TEXT, calling, frame, ids, label, works
from tests.gateway.conftest import PEOPLE, person
from tests.support.local_gateway import LocalGateway
from tests.support.soak import Counted, Soak

CONTINUATION = 0
EMPTY = frame(CONTINUATION, b"", fin=False)
ROUNDS = 50


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalGateway]:
    gateway = LocalGateway(tmp_path_factory.mktemp("hostile"))
    gateway.new_key("narrow", ["other_*"])
    with gateway:
        gateway.place(PEOPLE, [person(offset) for offset in range(10)])
        yield gateway


@pytest.fixture(autouse=True)
def _others_are_unharmed(gateway: LocalGateway) -> Iterator[None]:
    before = [gateway.engine.load().rows_applied]
    yield
    assert works(gateway)
    assert [gateway.engine.load().rows_applied] == before
    assert gateway.said == []


def text(message: object) -> bytes:
    return frame(TEXT, json.dumps(message).encode())


HELLO: dict[str, object] = {"type": "hello", "protocol": 1, "key": "eg_wrong"}
OPEN: dict[str, object] = {"type": "open", "sub": 1, "table": "people"}


FROM_STRANGERS: list[tuple[bytes, Code]] = [
    (text(HELLO), Code.BAD_KEY),
    (text({**HELLO, "key": ""}), Code.NOT_LOGGED_IN),
    (text({**HELLO, "key": "x" * 10_000}), Code.BAD_KEY),
    (text({**HELLO, "key": "ключ\u0000"}), Code.BAD_KEY),
    (text({**HELLO, "key": None}), Code.BAD_MESSAGE),
    (text({**HELLO, "key": ["eg_wrong"]}), Code.BAD_MESSAGE),
    (text({**HELLO, "protocol": 2}), Code.UNSUPPORTED_PROTOCOL),
    (text({**HELLO, "protocol": 10**18}), Code.UNSUPPORTED_PROTOCOL),
    (text({**HELLO, "protocol": "1"}), Code.BAD_MESSAGE),
    (text({**HELLO, "admin": True}), Code.BAD_MESSAGE),
    (text(OPEN), Code.NOT_LOGGED_IN),
    (text({"type": "heart"}), Code.NOT_LOGGED_IN),
    (frame(TEXT, b""), Code.BAD_MESSAGE),
    (frame(TEXT, b"GET / HTTP/1.1\r\n\r\n"), Code.BAD_MESSAGE),
    (frame(BINARY, b"\x00" * 100), Code.NOT_TEXT),
    (frame(TEXT, b"\xff\xfe{}"), Code.NOT_TEXT),
    (frame(TEXT, b"x" * 16_385), Code.TOO_LARGE),
    (frame(TEXT, b"\x00" * 20_000), Code.TOO_LARGE),
    (struct.pack("!BBQ", 0x81, 0xFF, 2**62) + b"mask", Code.TOO_LARGE),
    (struct.pack("!BBQ", 0x81, 0xFF, 2**63 + 5) + b"mask", Code.TOO_LARGE),
]


@pytest.mark.parametrize(("sent", "code"), FROM_STRANGERS, ids=label)
def test_strangers_get_no_further(gateway: LocalGateway, sent: bytes, code: Code) -> None:
    with calling(gateway) as caller:
        assert caller.shake_hands().status == 101
        caller.send(sent)
        assert caller.ending() == (code.value, code.close)


AGAINST_THE_PROTOCOL: list[tuple[bytes, Code]] = [
    (frame(TEXT, b"{"), Code.BAD_MESSAGE),
    (frame(TEXT, b"null"), Code.BAD_MESSAGE),
    (frame(TEXT, b"[" * 16_000), Code.BAD_MESSAGE),
    (frame(TEXT, b'{"type":' * 2000), Code.BAD_MESSAGE),
    (frame(TEXT, b'{"type":"heart"}' * 2), Code.BAD_MESSAGE),
    (frame(TEXT, b'{"type":"heart",}'), Code.BAD_MESSAGE),
    (frame(TEXT, b"{'type':'heart'}"), Code.BAD_MESSAGE),
    (frame(TEXT, b'{"type":"HEART"}'), Code.BAD_MESSAGE),
    (frame(TEXT, b'{"type":"close","sub":NaN}'), Code.BAD_MESSAGE),
    (frame(TEXT, b'{"type":"close","sub":1e999}'), Code.BAD_MESSAGE),
    (frame(TEXT, b'{"type":"close","sub":0x1}'), Code.BAD_MESSAGE),
    (frame(TEXT, b'{"type":"close","sub":' + b"9" * 4000 + b"}"), Code.BAD_MESSAGE),
    (text({"type": "close", "sub": -1}), Code.BAD_MESSAGE),
    (text({"type": "close", "sub": 2**32}), Code.BAD_MESSAGE),
    (text({"type": "close", "sub": 1.0}), Code.BAD_MESSAGE),
    (text({"type": "close", "sub": "1 OR 1=1"}), Code.BAD_MESSAGE),
    (text({**OPEN, "sub": None}), Code.BAD_MESSAGE),
    (text({**OPEN, "table": ["people"]}), Code.BAD_MESSAGE),
    (text({**OPEN, "columns": {"name": 1}}), Code.BAD_MESSAGE),
    (text({**OPEN, "search": 7}), Code.BAD_MESSAGE),
    (text({**OPEN, "limit": 1.5}), Code.BAD_MESSAGE),
    (text({**OPEN, "__proto__": {}}), Code.BAD_MESSAGE),
    (text({**OPEN, "resume": "latest"}), Code.BAD_MESSAGE),
    (text({"type": "upsert", "table": "people", "rows": [{}]}), Code.BAD_MESSAGE),
    (text({"type": "delete", "table": "people", "ids": ["0:1"]}), Code.BAD_MESSAGE),
    (text({"type": "welcome"}), Code.BAD_MESSAGE),
    (text({**HELLO, "protocol": 1}), Code.ALREADY_LOGGED_IN),
    (frame(BINARY, b'{"type":"heart"}'), Code.NOT_TEXT),
    (frame(TEXT, '{"type":"heart"}'.encode("utf-16")), Code.NOT_TEXT),
    (frame(TEXT, b'{"type":"\xed\xa0\x80"}'), Code.NOT_TEXT),
    (frame(TEXT, b"\xc0\x80"), Code.NOT_TEXT),
    (text({**OPEN, "search": "x" * 17_000}), Code.TOO_LARGE),
    (frame(TEXT, b"a" * 9000, fin=False) + frame(CONTINUATION, b"b" * 9000), Code.TOO_LARGE),
    (frame(CONTINUATION, b"x"), Code.BAD_MESSAGE),
    (frame(TEXT, b"x", fin=False) + frame(TEXT, b"x"), Code.BAD_MESSAGE),
    (frame(3, b"reserved"), Code.BAD_MESSAGE),
    (frame(11, b"reserved"), Code.BAD_MESSAGE),
    (frame(PING, b"x" * 126), Code.BAD_MESSAGE),
    (frame(PING, b"x", fin=False), Code.BAD_MESSAGE),
    (frame(TEXT | 0x40, b"compressed?"), Code.BAD_MESSAGE),
    (frame(TEXT | 0x10, b"{}"), Code.BAD_MESSAGE),
    (frame(TEXT, b'{"type":"heart"}', masked=False), Code.BAD_MESSAGE),
    (text({"type": "heart"}) + frame(TEXT, b"{}", masked=False), Code.BAD_MESSAGE),
    (frame(PING, b"", masked=False), Code.BAD_MESSAGE),
    (frame(CLOSE, struct.pack("!H", 1000), masked=False), Code.BAD_MESSAGE),
    (frame(TEXT, b"{", fin=False) + frame(CONTINUATION, b"}", masked=False), Code.BAD_MESSAGE),
    (frame(TEXT, b"x" * 60_000, masked=False), Code.BAD_MESSAGE),
    (frame(TEXT, b"{", fin=False) + EMPTY * 100, Code.BAD_MESSAGE),
    (frame(TEXT, b"{", fin=False) + (EMPTY * 10 + frame(PING, b"")) * 11, Code.BAD_MESSAGE),
    (frame(CLOSE, b"\x00"), Code.BAD_MESSAGE),
    (frame(CLOSE, struct.pack("!H", 5)), Code.BAD_MESSAGE),
    (frame(CLOSE, struct.pack("!H", 1000) + b"\xff"), Code.NOT_TEXT),
    (text({"type": "heart"}) * 101, Code.TOO_MANY_MESSAGES),
    (frame(PING, b"") * 101, Code.TOO_MANY_MESSAGES),
    (frame(PONG, b"") * 101, Code.TOO_MANY_MESSAGES),
    (b"".join(text({**OPEN, "sub": sub}) for sub in range(1000)), Code.TOO_MANY_MESSAGES),
]


@pytest.mark.parametrize(("sent", "code"), AGAINST_THE_PROTOCOL, ids=label)
def test_what_breaks_the_protocol_ends_the_connection(
    gateway: LocalGateway, sent: bytes, code: Code
) -> None:
    with calling(gateway) as caller:
        assert caller.log_in()["type"] == "welcome"
        caller.send(sent)
        assert caller.ending() == (code.value, code.close)


@pytest.mark.soak(part="frames")
def test_hostile_frames_in_any_order(gateway: LocalGateway, soak: Soak) -> None:
    rng = random.Random(soak.seed)
    frames = [(one, False) for one in FROM_STRANGERS] + [
        (one, True) for one in AGAINST_THE_PROTOCOL
    ]
    for _ in range(soak.figure(ROUNDS)):
        for (sent, code), logged_in in rng.sample(frames, len(frames)):
            if logged_in:
                test_what_breaks_the_protocol_ends_the_connection(gateway, sent, code)
            else:
                test_strangers_get_no_further(gateway, sent, code)
            soak.count(Counted.HOSTILE_FRAMES)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"table": "nobody's; DROP TABLE people --"}, Code.BAD_TABLE_NAME),
        ({"table": "../../etc/passwd"}, Code.BAD_TABLE_NAME),
        ({"table": "people\u0000"}, Code.BAD_TABLE_NAME),
        ({"table": ""}, Code.BAD_TABLE_NAME),
        ({"table": "x" * 9000 + "!"}, Code.BAD_TABLE_NAME),
        ({"columns": ["salary"]}, Code.UNKNOWN_COLUMN),
        ({"columns": ["name); --"]}, Code.UNKNOWN_COLUMN),
        ({"columns": ["name", "age", "name"]}, Code.DUPLICATE_COLUMN),
        ({"columns": ["name"] * 1900, "limit": 5000}, Code.DUPLICATE_COLUMN),
        ({"columns": ["name", "name"], "table": "not_yet"}, Code.DUPLICATE_COLUMN),
        ({"order": [{"column": "x"}] * 900, "table": "not_yet"}, Code.BAD_ORDER),
        ({"filter": {"column": "salary", "op": "is_null"}}, Code.UNKNOWN_COLUMN),
        ({"filter": {"column": "age", "op": "regex", "value": "(a+)+$"}}, Code.BAD_FILTER),
        ({"filter": {"column": "age"}}, Code.BAD_FILTER),
        ({"filter": {}}, Code.BAD_FILTER),
        ({"filter": {"and": []}}, Code.BAD_FILTER),
        ({"filter": {"column": "age", "op": "equals", "value": {"$gt": 0}}}, Code.BAD_FILTER),
        ({"filter": {"column": "age", "op": "equals", "value": "old"}}, Code.BAD_VALUE),
        ({"filter": {"column": "age", "op": "in", "value": 3}}, Code.BAD_FILTER),
        ({"filter": {"column": "age", "op": "between", "value": [1]}}, Code.BAD_FILTER),
        ({"filter": {"column": "seen", "op": "less", "value": "tomorrow"}}, Code.BAD_VALUE),
        ({"order": [{"column": "salary"}]}, Code.UNKNOWN_COLUMN),
        ({"order": [{"column": "name", "nulls": "nowhere"}]}, Code.BAD_ORDER),
        ({"order": [{"column": "name"}, {"column": "name"}]}, Code.BAD_ORDER),
        ({"offset": -(2**60)}, Code.BAD_WINDOW),
        ({"offset": 2**200}, Code.BAD_WINDOW),
        ({"limit": 5001}, Code.BAD_WINDOW),
        ({"limit": 0}, Code.BAD_WINDOW),
    ],
)
def test_what_one_window_asks_wrongly_leaves_the_others_alone(
    gateway: LocalGateway, change: dict[str, object], code: Code
) -> None:
    with calling(gateway) as caller:
        caller.log_in()
        caller.open(1)
        assert caller.hear()["state"] == "live"
        caller.say(**{**OPEN, "sub": 2, **change})
        answer = caller.hear()
        while answer["type"] == "state":
            answer = caller.hear()
        assert (answer["type"], answer["code"], answer["sub"]) == ("error", code.value, 2)
        assert not answer.get("fatal")
        caller.say(type="move", sub=1, offset=2, limit=2)
        while (shown := caller.watch()).header.rows != 2:
            assert shown.sub == 1
        assert (shown.sub, shown.header.offset) == (1, 2)


def test_a_key_without_rights_learns_nothing_about_a_table(gateway: LocalGateway) -> None:
    narrow = gateway.secrets["narrow"]
    with calling(gateway) as caller:
        caller.log_in(narrow)
        for sub, table in enumerate(("people", "nothing_of_that_name")):
            caller.open(sub, table)
            answer = caller.hear()
            assert (answer["code"], answer["sub"]) == ("no_rights", sub)
            assert table in str(answer["message"])
    with calling(gateway) as caller:
        refused = caller.ask("/api/tables/people/rows", {"Authorization": f"Bearer {narrow}"})
        assert (refused.status, refused.code) == (403, "no_rights")
    with calling(gateway) as caller:
        listed = caller.ask("/api/tables", {"Authorization": f"Bearer {narrow}"})
        assert json.loads(listed.body) == {"tables": []}


def test_a_frame_without_its_mask_ends_even_a_login(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        caller.shake_hands()
        caller.send(frame(TEXT, json.dumps(HELLO).encode(), masked=False))
        assert caller.ending() == ("bad_message", Code.BAD_MESSAGE.close)


def test_frames_are_allowed_however_they_are_cut(gateway: LocalGateway) -> None:
    """A message of many frames, with pings between them, sent a byte at a time."""
    message = json.dumps({**OPEN, "search": "P3" + " " * 300}).encode()
    parts = [message[start : start + 5] for start in range(0, len(message), 5)]
    sent = frame(TEXT, parts[0], fin=False) + frame(PING, b"between")
    sent += b"".join(frame(CONTINUATION, part, fin=False) for part in parts[1:])
    sent += frame(CONTINUATION, b"")
    with calling(gateway) as caller:
        assert caller.log_in()["type"] == "welcome"
        caller.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in sent:
            caller.send(bytes([byte]))
        while (opcode := caller.next()[0]) != PONG:
            assert opcode == TEXT
        assert ids(caller.watch()) == ["0:3"]


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Upgrade": ""}, 400, Code.UNSUPPORTED_PROTOCOL),
        ({"Upgrade": "h2c"}, 400, Code.UNSUPPORTED_PROTOCOL),
        ({"Connection": "close"}, 400, Code.UNSUPPORTED_PROTOCOL),
        ({"Sec-WebSocket-Version": "12"}, 400, Code.UNSUPPORTED_PROTOCOL),
        ({"Sec-WebSocket-Version": ""}, 400, Code.UNSUPPORTED_PROTOCOL),
        ({"Sec-WebSocket-Key": ""}, 400, Code.UNSUPPORTED_PROTOCOL),
        ({"Sec-WebSocket-Key": "c2hvcnQ="}, 400, Code.UNSUPPORTED_PROTOCOL),
        ({"Sec-WebSocket-Key": "!"}, 400, Code.UNSUPPORTED_PROTOCOL),
        ({"Sec-WebSocket-Protocol": ""}, 400, Code.UNSUPPORTED_PROTOCOL),
        ({"Sec-WebSocket-Protocol": "evergrid.v2"}, 400, Code.UNSUPPORTED_PROTOCOL),
        ({"Origin": ""}, 401, Code.NOT_LOGGED_IN),
        ({"Origin": "null"}, 403, Code.ORIGIN_REFUSED),
        ({"Origin": "http://evil.example"}, 403, Code.ORIGIN_REFUSED),
        ({"Origin": "http://127.0.0.1"}, 403, Code.ORIGIN_REFUSED),
        ({"Host": "evil.example"}, 421, Code.HOST_REFUSED),
        ({"Host": ""}, 400, Code.BAD_PARAMETER),
        ({"Authorization": "Bearer eg_wrong"}, 401, Code.BAD_KEY),
        ({"Authorization": "Bearer "}, 401, Code.BAD_KEY),
        ({"Authorization": "Basic YTpi"}, 401, Code.BAD_KEY),
    ],
)
def test_a_handshake_that_is_wrong_is_refused(
    gateway: LocalGateway, headers: dict[str, str], status: int, code: Code
) -> None:
    with calling(gateway) as caller:
        answer = caller.shake_hands(headers)
        assert (answer.status, answer.code) == (status, code.value)


@pytest.mark.parametrize(
    ("target", "headers", "status", "code"),
    [
        ("/api/tables", {"Authorization": ""}, 401, Code.NOT_LOGGED_IN),
        ("/api/tables", {"Authorization": "Bearer eg_wrong"}, 401, Code.BAD_KEY),
        ("/api/tables", {"Authorization": "eg_wrong"}, 401, Code.BAD_KEY),
        ("/metrics", {"Authorization": ""}, 401, Code.NOT_LOGGED_IN),
        ("/api//tables", {"Authorization": ""}, 401, Code.NOT_LOGGED_IN),
        ("/api%2ftables", {"Authorization": ""}, 401, Code.NOT_LOGGED_IN),
        ("/api/tables?key=eg_x", {}, 400, Code.KEY_IN_ADDRESS),
        ("/api/tables?Access_Token=eg_x", {}, 400, Code.KEY_IN_ADDRESS),
        ("/livez?psk=x", {}, 400, Code.KEY_IN_ADDRESS),
        ("/livez", {"Host": "evil.example"}, 421, Code.HOST_REFUSED),
        ("/livez", {"Origin": "http://evil.example"}, 403, Code.ORIGIN_REFUSED),
        ("/api/tables", {"Host": "127.0.0.1"}, 421, Code.HOST_REFUSED),
        ("/../../etc/passwd", {}, 404, Code.NOT_FOUND),
        ("/api/tables/..%2f..%2fetc", {}, 400, Code.BAD_TABLE_NAME),
        ("/api/tables/people'--", {}, 400, Code.BAD_TABLE_NAME),
        ("/api/tables/%00", {}, 400, Code.BAD_TABLE_NAME),
        ("/api/tables/%ff%fe", {}, 400, Code.BAD_TABLE_NAME),
        ("/api/tables/nothing", {}, 404, Code.NO_SUCH_TABLE),
        ("/api/tables/nothing/rows", {}, 404, Code.NO_SUCH_TABLE),
        ("/api/tables/people/rows?limit=0", {}, 400, Code.BAD_WINDOW),
        ("/api/tables/people/rows?limit=1;drop", {}, 400, Code.BAD_PARAMETER),
        ("/api/tables/people/rows?columns=salary", {}, 400, Code.UNKNOWN_COLUMN),
        ("/api/tables/people/rows?order=salary", {}, 400, Code.UNKNOWN_COLUMN),
        ("/api/tables/people/rows?filter=%7B", {}, 400, Code.BAD_FILTER),
        ("/api/tables/people/rows?format=exe", {}, 400, Code.BAD_PARAMETER),
        ("/api/tables/people/rows?a=1", {}, 400, Code.BAD_PARAMETER),
        ("/nothing", {}, 404, Code.NOT_FOUND),
        ("/.git/config", {}, 404, Code.NOT_FOUND),
    ],
)
def test_a_request_that_is_wrong_is_refused(
    gateway: LocalGateway, target: str, headers: dict[str, str], status: int, code: Code
) -> None:
    with calling(gateway) as caller:
        answer = caller.ask(target, headers)
        assert (answer.status, answer.code) == (status, code.value)
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE"])
def test_there_is_nothing_to_write_to(gateway: LocalGateway, method: str) -> None:
    for target in ("/api/tables", "/api/tables/people", "/api/tables/people/rows", "/livez"):
        with calling(gateway) as caller:
            answer = caller.ask(target, method=method)
            assert (answer.status, answer.code) == (405, "method_not_allowed")
            assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100,
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET /" + b"a" * 30_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 30_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
        b"\x00" * 5000 + b"\r\n\r\n",
    ],
    ids=label,
)
def test_what_is_no_http_is_refused_without_a_word_about_our_insides(
    gateway: LocalGateway, raw: bytes
) -> None:
    with calling(gateway) as caller:
        caller.send(raw)
        caller.socket.settimeout(10)
        answer = caller.answer()
        assert (answer.status, answer.code) in ((400, "bad_parameter"), (421, "host_refused"))
        assert answer.headers["server"] == "evergrid"
        for word in (b"Traceback", b"File ", b"site-packages", b".py"):
            assert word not in answer.body


def test_two_hosts_are_no_host(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        host = caller.host()
        caller.send(f"GET /livez HTTP/1.1\r\nHost: {host}\r\nHost: evil\r\n\r\n".encode())
        assert caller.answer().status == 400
