"""Whoever only holds connections, without a key, keeps nobody else out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from evergrid.gateway.access import connection_limiter
from tests.gateway.caller import Caller, calling, wait_until, works
from tests.gateway.conftest import PEOPLE, person
from tests.support.local_gateway import LIMITS, LocalGateway


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[LocalGateway]:
    limits = msgspec.structs.replace(LIMITS, connections=20, strangers=5)
    with LocalGateway(tmp_path, limits) as running:
        running.place(PEOPLE, [person(offset) for offset in range(10)])
        yield running


def _silent(caller: Caller) -> None:
    """Sends nothing."""


def _half_a_request(caller: Caller) -> None:
    caller.send(b"GET /livez HTTP/1.1\r\n")


def _no_login(caller: Caller) -> None:
    assert caller.shake_hands().status == 101


def _keep_alive(caller: Caller) -> None:
    caller.send(f"GET /livez HTTP/1.1\r\nHost: {caller.host()}\r\n\r\n".encode())
    assert caller.socket.recv(65536).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("hold", "reason"),
    [
        (_silent, "silent_limit"),
        (_half_a_request, "silent_limit"),
        (_no_login, "login_limit"),
        (_keep_alive, "connection_limit"),
    ],
)
def test_held_connections_keep_nobody_out(
    gateway: LocalGateway, hold: Callable[[Caller], None], reason: str
) -> None:
    crowd: list[Caller] = []
    try:
        for _ in range(40):
            crowd.append(Caller(gateway))
            hold(crowd[-1])
        assert works(gateway)
        with calling(gateway) as caller:
            said = caller.ask("/metrics").body.decode()
    finally:
        for one in crowd:
            one.close()
    counted = re.search(rf'evergrid_refused_total{{reason="{reason}"}} (\d+)', said)
    assert counted is not None, said
    assert int(counted[1]) > 1
    told = [line for line in gateway.said if reason in line]
    assert len(told) == 1, "many refusals, one line"
    assert "client 127.0.0.1" in told[0]


def test_a_response_that_is_not_read_is_given_up(
    gateway: LocalGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limiter, "WRITE_SECONDS", 1.0)
    with calling(gateway, receive_buffer=4096) as stuck:
        one = f"GET /client.js HTTP/1.1\r\nHost: {stuck.host()}\r\n\r\n".encode()
        stuck.send(one * 100)
        wait_until(lambda: any("unread_response" in line for line in gateway.said), "its end")
    assert works(gateway)
