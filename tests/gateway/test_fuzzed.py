"""Whatever clients send, the gateway answers with its own codes, logs nothing and goes on."""

from __future__ import annotations

import http.client
import json
import random
import struct
from collections.abc import Iterator
from contextlib import closing

import msgspec
import pytest

from evergrid.gateway.http.row_parameters import Format
from evergrid.protocol.error_codes import Code
from tests.gateway.caller import CLOSE, LIMIT, PING, PONG, TEXT, Caller, frame, works
from tests.gateway.conftest import PEOPLE, person
from tests.support.hostile_requests import client_message, row_parameters
from tests.support.local_gateway import LIMITS, LocalGateway
from tests.support.soak import Counted, Soak

SEED = 20_261_220
FUZZED = 1_500
LOT = 1_000
LOTS = 100
# Those that would be faults of the gateway itself, or of this test.
FAULTS = {Code.INTERNAL, Code.VIEW_FAILED, Code.TOO_MANY_MESSAGES, Code.TOO_SLOW, Code.SILENT}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalGateway]:
    often = msgspec.structs.replace(LIMITS, messages_per_second=1_000_000)
    with LocalGateway(tmp_path_factory.mktemp("fuzzed"), often) as gateway:
        gateway.place(PEOPLE, [person(offset) for offset in range(50)])
        yield gateway


@pytest.fixture(autouse=True)
def _others_are_unharmed(gateway: LocalGateway) -> Iterator[None]:
    yield
    assert works(gateway)
    assert gateway.said == []


class Fuzzing:
    """One connection after the other, each until a message ends it."""

    def __init__(self, gateway: LocalGateway) -> None:
        self._gateway = gateway
        self._caller: Caller | None = None

    def send(self, payload: bytes) -> None:
        """A message, and all answers up to that of the ping behind it."""
        if self._caller is None:
            self._caller = Caller(self._gateway)
            assert self._caller.log_in()["type"] == "welcome"
        self._caller.send(frame(TEXT, payload) + frame(PING, b"next"))
        ended: Code | None = None
        while True:
            opcode, answer = self._caller.next()
            if opcode == TEXT and (message := json.loads(answer))["type"] == "error":
                code = Code.named(message["code"])
                assert code not in FAULTS, message
                assert bool(message.get("fatal")) is code.fatal
                ended = code if code.fatal else ended
            elif opcode == PONG:
                return
            elif opcode == CLOSE:
                assert ended is not None
                assert struct.unpack("!H", answer[:2])[0] == ended.close
                self.close()
                return

    def close(self) -> None:
        if self._caller is not None:
            self._caller.close()
            self._caller = None


def send_messages(gateway: LocalGateway, seed: int, count: int) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    with closing(Fuzzing(gateway)) as fuzzing:
        for number in range(count):
            payload = client_message(rng)
            try:
                fuzzing.send(payload)
            except Exception as error:
                raise AssertionError(f"seed {seed}, number {number}: {payload!r}") from error


def ask_for_rows(gateway: LocalGateway, seed: int, count: int) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    headers = {"Authorization": f"Bearer {gateway.secret}"}
    with closing(http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=LIMIT)) as line:
        for number in range(count):
            target = f"/api/tables/people/rows?{row_parameters(rng)}"
            line.request("GET", target, headers=headers)
            answer = line.getresponse()
            body = answer.read()
            told = f"seed {seed}, number {number}: {target} {answer.status} {body[:500]!r}"
            if answer.status == 200:
                media = answer.headers.get_content_type()
                assert media in {each.media for each in Format}, told
                continue
            code = Code.named(json.loads(body)["error"]["code"])
            assert code not in FAULTS, told
            assert answer.status == code.http, told


def test_no_client_message_harms_the_gateway(gateway: LocalGateway) -> None:
    send_messages(gateway, SEED, FUZZED)


def test_no_query_harms_the_gateway(gateway: LocalGateway) -> None:
    ask_for_rows(gateway, SEED, FUZZED)


@pytest.mark.soak(part="inputs")
def test_client_messages_for_long(gateway: LocalGateway, soak: Soak) -> None:
    for lot in range(soak.figure(LOTS)):
        send_messages(gateway, soak.seed + lot, LOT)
        soak.count(Counted.BAD_INPUTS, LOT)


@pytest.mark.soak(part="inputs")
def test_queries_for_long(gateway: LocalGateway, soak: Soak) -> None:
    for lot in range(soak.figure(LOTS)):
        ask_for_rows(gateway, soak.seed + lot, LOT)
        soak.count(Counted.BAD_INPUTS, LOT)
