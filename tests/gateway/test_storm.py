"""Many viewers who come back in the same moment stop nobody's updates."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evergrid.process.open_files import raise_open_files
from tests.gateway.caller import Caller, calling, ids
from tests.gateway.conftest import PEOPLE, person
from tests.support.local_gateway import LocalGateway
from tests.support.soak import Counted, Soak

WITHOUT_HEADER = 3  # every third is a page, which sends its key after the handshake


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[LocalGateway]:
    raise_open_files(4000, pytest.fail)
    with LocalGateway(tmp_path) as running:
        running.place(PEOPLE, [person(offset) for offset in range(10)])
        yield running


def test_300_who_return_at_once_stop_no_updates(gateway: LocalGateway) -> None:
    return_at_once(gateway, 300)


@pytest.mark.soak(part="viewers")
def test_2000_who_return_at_once_stop_no_updates(gateway: LocalGateway, soak: Soak) -> None:
    count = soak.figure(2000)
    return_at_once(gateway, count)
    soak.count(Counted.VIEWERS, count)


def return_at_once(gateway: LocalGateway, count: int) -> None:
    instance = gateway.engine.instance
    gateway.stop()
    gateway.start()
    with calling(gateway) as healthy, contextlib.ExitStack() as stack:
        healthy.log_in()
        healthy.open(1, columns=["age"], limit=10)
        healthy.watch()
        # In the thread of the gateway's event loop: it can accept the first only after the last.
        crowd = gateway.call(lambda: [ask_to_come_back(gateway, n) for n in range(count)])
        for caller in crowd:
            stack.callback(caller.close)
        with ThreadPoolExecutor(count) as pool:
            returned = [pool.submit(come_back, caller, instance) for caller in crowd]
            changes = 0
            while not all(one.done() for one in returned):
                changes += 1
                gateway.upsert("people", [person(3, age=1000 + changes)])
                assert healthy.watch().sub == 1
            assert [len(one.result()) for one in returned] == [10] * count
        assert changes > 1, "updates went on during the storm"
    assert gateway.said == [], "nobody was refused"


def ask_to_come_back(gateway: LocalGateway, number: int) -> Caller:
    caller = Caller(gateway)
    is_page = number % WITHOUT_HEADER == 0
    caller.ask_for_upgrade({} if is_page else {"Origin": "", "Authorization": caller.bearer()})
    return caller


def come_back(caller: Caller, instance: str) -> list[str]:
    """The rows that it gets after it has logged in and opened its window again."""
    assert caller.upgraded().status == 101
    caller.say(type="hello", protocol=1, key=caller.gateway.secret)
    assert caller.hear()["type"] == "welcome"
    caller.open(1, limit=10, resume={"instance": instance, "sequence": 1})
    return ids(caller.watch())
