from __future__ import annotations

import asyncio
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from evergrid.config.settings import Tls
from evergrid.gateway.live import client_connection as live_connection
from evergrid.gateway.live import live_session
from evergrid.model.errors import ConfigError
from evergrid.protocol.error_codes import Code
from evergrid.protocol.frames import FrameKind
from evergrid.protocol.messages import Live
from tests.certificates import self_signed
from tests.gateway.caller import BINARY, LIMIT, Caller, calling, frame, ids, wait_until, works
from tests.gateway.conftest import PEOPLE, person
from tests.support.local_gateway import LIMITS, LocalGateway


def test_a_window_is_shown_and_then_only_what_changes(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        assert caller.log_in()["type"] == "welcome"
        caller.open(3, offset=2, limit=4)
        first = caller.watch()
        assert (first.sub, first.header.total, first.header.offset) == (3, 10, 2)
        assert ids(first) == ["0:2", "0:3", "0:4", "0:5"]
        gateway.upsert("people", [person(3, name="Mei")])
        second = caller.watch()
        assert second.header.kind is FrameKind.DIFFERENCE
        assert second.header.base == first.header.sequence
        assert second.description.parts == ((0, 1), (-1, 1), (2, 2))


def test_a_script_logs_in_by_its_header(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        caller.shake_hands({"Origin": "", "Authorization": caller.bearer()})
        caller.say(type="hello", protocol=1)
        assert caller.hear()["key"] == "all"


def test_windows_of_one_connection_do_not_disturb_each_other(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        caller.log_in()
        caller.open(1, limit=2)
        caller.open(2, limit=2, order=[{"column": "age", "descending": True}])
        shown = {f.sub: ids(f) for f in (caller.watch(), caller.watch())}
        assert shown == {1: ["0:0", "0:1"], 2: ["0:9", "0:8"]}
        caller.say(type="close", sub=1)
        assert caller.hear() == {"type": "closed", "sub": 1}
        gateway.upsert("people", [person(0, name="Mei"), person(9, name="Ada")])
        assert caller.watch().sub == 2
        gateway.upsert("people", [person(9, name="Eve")])
        assert caller.watch().sub == 2


def test_a_move_is_answered_by_the_window_it_asks_for(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        caller.log_in()
        caller.open(1, limit=2)
        caller.watch()
        caller.say(type="move", sub=1, offset=-3, limit=3)
        assert ids(caller.watch()) == ["0:7", "0:8", "0:9"]
        caller.say(type="move", sub=1, offset=-3, limit=3)
        assert ids(caller.watch()) == ["0:7", "0:8", "0:9"]


def test_a_window_waits_for_its_table_and_outlives_it(gateway: LocalGateway) -> None:
    later = msgspec.structs.replace(PEOPLE, name="later")
    with calling(gateway) as caller:
        caller.log_in()
        caller.open(1, "later")
        assert caller.hear()["state"] == "waiting"
        gateway.place(later, [person(1)])
        assert caller.hear()["state"] == "live"
        assert ids(caller.watch()) == ["0:1"]
        gateway.withdraw("later")
        assert caller.hear()["state"] == "waiting"
        gateway.place(later, [person(2)], generation=2)
        assert caller.hear()["state"] == "live"
        again = caller.watch()
        assert (ids(again), again.header.generation) == (["0:2"], 2)


def test_another_generation_comes_as_one_full_window(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        caller.log_in()
        caller.open(1)
        assert caller.watch().header.generation == 1
        gateway.place(PEOPLE, [person(77)], generation=2)
        swapped = caller.watch()
        assert (swapped.header.generation, ids(swapped)) == (2, ["0:77"])


def test_a_stale_table_is_said_to_be_so(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        caller.log_in()
        caller.open(1)
        assert caller.hear()["state"] == "live"
        gateway.say("people", Live.STALE, "Kafka is away.", since=5)
        told = caller.hear()
        assert (told["state"], told["since"], told["message"]) == ("stale", 5, "Kafka is away.")


def test_who_comes_back_is_sent_only_what_it_missed(gateway: LocalGateway) -> None:
    with calling(gateway) as first, calling(gateway) as other:
        other.log_in()
        other.open(1)
        other.watch()
        instance = first.log_in()["instance"]
        first.open(1)
        seen = first.watch().header.sequence
        first.close()
        with calling(gateway) as again:
            again.log_in()
            again.open(1, resume={"instance": instance, "sequence": seen})
            assert again.hear()["state"] == "live"
            gateway.upsert("people", [person(3, name="Mei")])
            missed = again.watch()
            assert (missed.header.kind, missed.header.base) == (FrameKind.DIFFERENCE, seen)


def test_who_comes_back_to_another_instance_starts_anew(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        caller.log_in()
        caller.open(1, resume={"instance": "another", "sequence": 1})
        assert caller.watch().header.kind is FrameKind.FULL


def test_hearts_beat_and_who_answers_none_is_dropped(
    gateway: LocalGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_session, "HEARTBEAT_SECONDS", 0.2)
    monkeypatch.setattr(live_session, "SILENCE_SECONDS", 5.0)
    # A pause of the machine may drop both of them.
    wait_until(lambda: _outlives(gateway), "one who answers to outlive one who does not")


def _outlives(gateway: LocalGateway) -> bool:
    with ThreadPoolExecutor(1) as pool, calling(gateway) as dead, calling(gateway) as alive:
        began = time.monotonic()
        dead.log_in()
        alive.log_in()
        alive.open(1)
        try:
            alive.watch()
            answering = pool.submit(alive.watch)  # answers hearts on the way
            ending = dead.ending()
            lasted = time.monotonic() - began
            gateway.upsert("people", [person(3, name=str(began))])
            shown = answering.result()
        except (AssertionError, ConnectionError, EOFError):
            return False
    assert ending == ("silent", Code.SILENT.close)
    assert lasted > 4.0
    return shown.header.kind is FrameKind.DIFFERENCE


def test_hello_must_come_in_time(tmp_path: Path) -> None:
    limits = msgspec.structs.replace(LIMITS, login_seconds=1)
    with LocalGateway(tmp_path, limits) as gateway, calling(gateway) as late:
        late.shake_hands()
        assert late.ending() == ("login_late", Code.LOGIN_LATE.close)


def test_a_connection_that_asks_for_nothing_is_closed(tmp_path: Path) -> None:
    limits = msgspec.structs.replace(LIMITS, login_seconds=1)
    with LocalGateway(tmp_path, limits) as gateway, calling(gateway) as mute:
        with calling(gateway) as slow:
            slow.send(b"GET /livez HTTP/1.1\r\nHost: x\r\n")
            assert slow.rest() == b""
        assert mute.rest() == b""


def test_silent_connections_are_few_and_leave_room_again(tmp_path: Path) -> None:
    limits = msgspec.structs.replace(LIMITS, strangers=3, login_seconds=1)
    with LocalGateway(tmp_path, limits) as gateway:
        gateway.place(PEOPLE, [person(offset) for offset in range(3)])
        crowd = [Caller(gateway) for _ in range(6)]
        try:
            assert all(caller.rest() == b"" for caller in crowd[:3])
        finally:
            for caller in crowd:
                caller.close()
        wait_until(lambda: _can_ask(gateway), "room for others")
        assert works(gateway)


def _can_ask(gateway: LocalGateway) -> bool:
    try:
        with calling(gateway) as caller:
            return caller.ask("/livez").status == 200
    except ConnectionError:
        return False


def test_the_oldest_stranger_makes_room_for_a_new_one(tmp_path: Path) -> None:
    limits = msgspec.structs.replace(LIMITS, strangers=1)
    with LocalGateway(tmp_path, limits) as gateway, calling(gateway) as first:
        gateway.place(PEOPLE, [person(offset) for offset in range(3)])
        first.shake_hands()
        assert works(gateway)
        code = Code.TOO_MANY_CONNECTIONS
        assert first.ending() == (code.value, code.close)


def test_connections_of_one_key_are_bounded(tmp_path: Path) -> None:
    limits = msgspec.structs.replace(LIMITS, connections_per_key=1)
    with LocalGateway(tmp_path, limits) as gateway:
        with calling(gateway) as first, calling(gateway) as second:
            first.log_in()
            second.shake_hands()
            second.say(type="hello", protocol=1, key=gateway.secret)
            code = Code.TOO_MANY_CONNECTIONS
            assert second.ending() == (code.value, code.close)
        wait_until(lambda: _welcome(gateway), "the place to be free again")


def _welcome(gateway: LocalGateway) -> bool:
    with calling(gateway) as caller:
        caller.shake_hands()
        caller.say(type="hello", protocol=1, key=gateway.secret)
        return caller.hear()["type"] == "welcome"


def test_a_key_that_is_removed_ends_its_connections(gateway: LocalGateway) -> None:
    gateway.new_key("mine")
    wait_until(lambda: _knows(gateway, "mine"), "the new key to be known")
    with calling(gateway) as caller, calling(gateway) as other:
        other.log_in()
        caller.log_in(gateway.secrets["mine"])
        gateway.remove_key("mine")
        assert caller.ending() == ("bad_key", Code.BAD_KEY.close)
        other.open(1)
        assert other.watch().header.rows == 10


def _knows(gateway: LocalGateway, name: str) -> bool:
    with calling(gateway) as caller:
        bearer = f"Bearer {gateway.secrets[name]}"
        return caller.ask("/api/tables", {"Authorization": bearer}).status == 200


def wide(offset: int, turn: int) -> dict[str, str | int | float | bool | None]:
    return person(offset, name=f"{turn}:" + "x" * 2000)


def test_a_reader_that_stops_is_dropped_and_the_others_see_everything(
    gateway: LocalGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_connection, "STALL_SECONDS", 1.0)
    monkeypatch.setattr(live_session, "SILENCE_SECONDS", LIMIT)
    with calling(gateway, receive_buffer=4096) as stuck, calling(gateway) as healthy:
        for caller in (stuck, healthy):
            caller.log_in()
            caller.open(1)
        healthy.watch()
        deadline = time.monotonic() + LIMIT
        turn = 0
        while b'dropped_total{reason="too_slow"} 1' not in _metrics(gateway):
            assert time.monotonic() < deadline, "a reader that reads nothing was kept"
            turn += 1
            gateway.upsert("people", [wide(offset, turn) for offset in range(10)])
            assert healthy.watch().header.rows == 10
        stuck.rest()  # ends, because the connection does
    assert gateway.said == []


def _metrics(gateway: LocalGateway) -> bytes:
    with calling(gateway) as caller:
        return caller.ask("/metrics").body


def test_a_slow_reader_gets_the_newest_state_and_no_backlog(
    gateway: LocalGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_connection, "STALL_SECONDS", LIMIT)
    monkeypatch.setattr(live_session, "SILENCE_SECONDS", LIMIT)
    with calling(gateway, receive_buffer=4096) as slow, calling(gateway) as quick:
        for caller in (slow, quick):
            caller.log_in()
            caller.open(1)
            caller.watch()
        turns = 200
        for turn in range(turns):
            gateway.upsert("people", [wide(offset, turn) for offset in range(10)])
            quick.watch()
        gateway.upsert("people", [person(99)])
        newest = quick.watch().header
        received, sequence = 0, 0
        while sequence != newest.sequence:
            shown = slow.watch().header
            assert shown.sequence > sequence
            received, sequence = received + 1, shown.sequence
        assert received < turns / 2


def test_hundreds_look_at_one_view_and_all_end_with_its_newest_state(
    gateway: LocalGateway,
) -> None:
    crowd = [Caller(gateway) for _ in range(60)]
    try:
        for caller in crowd:
            caller.log_in()
            caller.open(1)
            caller.watch()
        assert gateway.engine.load().hub.views == 1
        for turn in range(20):
            gateway.upsert("people", [person(3, name=f"turn {turn}")])
        gateway.upsert("people", [person(1000)])
        for caller in crowd:
            sequence = 0
            while (shown := caller.watch().header).total != 11:
                assert shown.sequence > sequence
                sequence = shown.sequence
    finally:
        for caller in crowd:
            caller.close()
    wait_until(lambda: gateway.engine.load().hub.subscribers == 0, "all to have left")
    wait_until(lambda: gateway.engine.load().hub.views == 0, "the view to go")


def tasks(gateway: LocalGateway) -> set[str]:
    """The tasks of the gateway's event loop."""

    async def names() -> set[str]:
        me = asyncio.current_task()
        return {repr(task) for task in asyncio.all_tasks() if task is not me}

    return gateway.run(names())


def test_a_gateway_that_stops_says_so_and_leaves_no_task_behind(gateway: LocalGateway) -> None:
    with calling(gateway) as guest, calling(gateway) as stranger, calling(gateway) as idle:
        guest.log_in()
        guest.open(1)
        guest.watch()
        stranger.shake_hands()
        assert tasks(gateway)
        gateway.stop()
        for caller in (guest, stranger):
            assert caller.ending() == ("shutting_down", Code.SHUTTING_DOWN.close)
        assert idle.rest() == b""
        assert tasks(gateway) == set()
    gateway.start()
    assert works(gateway)


def test_who_leaves_without_a_word_leaves_nothing_behind(gateway: LocalGateway) -> None:
    before = len(tasks(gateway))
    for _ in range(20):
        with calling(gateway) as caller:
            caller.log_in()
            caller.open(1)
            caller.send(frame(BINARY, b"x" * 100)[:50])
    wait_until(lambda: gateway.engine.load().hub.subscribers == 0, "their windows to be closed")
    wait_until(lambda: len(tasks(gateway)) <= before, "their tasks to end")


def test_a_port_that_is_taken_is_named(gateway: LocalGateway, tmp_path: Path) -> None:
    second = LocalGateway(tmp_path / "..")
    second.settings = gateway.settings
    with pytest.raises(ConfigError, match=f"port {gateway.port} is in use.*gateway.port"):
        second.__enter__()
    second.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("203.0.113.7", "not an address of this machine"),
        ("no-such-host.invalid", "cannot be resolved"),
    ],
)
def test_an_address_that_cannot_be_bound_is_named(tmp_path: Path, host: str, words: str) -> None:
    gateway = LocalGateway(tmp_path)
    gateway.settings = msgspec.structs.replace(gateway.settings, host=host, behind_proxy=True)
    with pytest.raises(ConfigError, match=words):
        gateway.__enter__()
    gateway.__exit__(None, None, None)


def test_tls_is_built_in(tmp_path: Path) -> None:
    files = self_signed(tmp_path)
    with LocalGateway(tmp_path, tls=files) as gateway:
        gateway.place(PEOPLE, [person(offset) for offset in range(3)])
        assert gateway.address.startswith("https://")
        with calling(gateway) as caller:
            caller.log_in_encrypted(files.certificate)
            caller.open(1)
            assert len(ids(caller.watch())) == 3
        with calling(gateway) as plain:
            plain.send(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"200" not in plain.rest()


def test_an_encrypted_connection_that_breaks_is_no_fault_of_ours(tmp_path: Path) -> None:
    files = self_signed(tmp_path)
    with LocalGateway(tmp_path, tls=files) as gateway:
        gateway.place(PEOPLE, [person(offset) for offset in range(3)])
        for _ in range(5):
            with calling(gateway) as caller:
                caller.log_in_encrypted(files.certificate)
                caller.open(1)
                caller.watch()
                reset(caller.socket)
            wait_until(lambda: gateway.engine.load().hub.subscribers == 0, "it to be forgotten")
        assert gateway.said == []


def reset(connection: socket.socket) -> None:
    """As a network does it: no goodbye, neither of TLS nor of TCP."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def test_files_that_are_no_certificate_are_named(tmp_path: Path) -> None:
    (tmp_path / "cert.pem").write_text("no certificate")
    tls = Tls(tmp_path / "cert.pem", tmp_path / "cert.pem")
    gateway = LocalGateway(tmp_path, tls=tls)
    with pytest.raises(ConfigError, match=r"cert\.pem"):
        gateway.__enter__()
    gateway.__exit__(None, None, None)


def test_a_half_open_connection_is_given_up(
    gateway: LocalGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    with calling(gateway) as gone:
        gone.log_in()
        gone.open(1)
        gone.watch()
        monkeypatch.setattr(live_session, "SILENCE_SECONDS", 1.0)
        # The other end is still there for the kernel, but nobody ever speaks or reads again.
        gone.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wait_until(lambda: gateway.engine.load().hub.subscribers == 0, "it to be given up")
