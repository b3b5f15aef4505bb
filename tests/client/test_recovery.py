"""Cuts, silences and restarts: windows say so, and come back by themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import msgspec
import pytest

from evergrid.client import Live, connect_async
from evergrid.client.client_errors import Unreachable
from tests.client.people import LIMIT, QUICK, column, connected, ids, person, until_async
from tests.support.fault_proxy import Direction, FaultProxy
from tests.support.local_gateway import LocalGateway


@pytest.fixture
def way(gateway: LocalGateway) -> Iterator[FaultProxy]:
    """A way to the gateway, which goes by its address too."""
    with FaultProxy(gateway.port) as proxy:
        gateway.stop()
        names = (f"127.0.0.1:{proxy.port}",)
        gateway.settings = msgspec.structs.replace(gateway.settings, hosts=names)
        gateway.start()
        yield proxy


def test_a_gateway_that_stops_and_starts_again(gateway: LocalGateway) -> None:
    async def scene() -> None:
        async with connected(gateway) as client:
            windows = client.windows("users_ui", limit=2)
            changes = client.changes("users_ui", offset=-1, limit=1)
            await until_async(windows, lambda window: window.live)
            assert (await anext(changes)).id == "0:9"
            await asyncio.to_thread(gateway.stop)
            window = await until_async(windows, lambda window: window.state is Live.STALE)
            assert ids(window) == ["0:0", "0:1"]
            assert window.stale_since is not None
            with pytest.raises(Unreachable, match="that the gateway runs"):
                await client.tables()
            await asyncio.to_thread(gateway.start)
            gateway.delete("users_ui", ["0:0"])
            window = await until_async(windows, lambda window: ids(window) == ["0:1", "0:2"])
            assert (window.state, window.stale_since) == (Live.LIVE, None)
            assert (await client.table("users_ui")).rows == 9
            gateway.upsert("users_ui", [person(10)])
            async with asyncio.timeout(LIMIT):
                assert {(await anext(changes)).id for _ in range(2)} == {"0:9", "0:10"}

    asyncio.run(scene())


FAULTS: dict[str, Callable[[FaultProxy], None]] = {
    "ended": lambda way: way.cut(),
    "broken off": lambda way: way.reset(),
    "ended within a frame": lambda way: way.break_after(100, Direction.DOWN, reset=False),
    "broken off within a frame": lambda way: way.break_after(100, Direction.DOWN),
    "broken off after the header": lambda way: way.break_after(70, Direction.DOWN),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_after_a_fault_the_window_goes_on_where_it_was(
    gateway: LocalGateway, way: FaultProxy, fault: str
) -> None:
    async def scene() -> None:
        async with connect_async(way.address, gateway.secret, timeouts=QUICK) as client:
            windows = client.windows("users_ui", limit=5)
            window = await until_async(windows, lambda window: window.live)
            for age in range(100, 104):
                sequence = window.sequence
                FAULTS[fault](way)
                gateway.upsert("users_ui", [person(0, age=age)])
                window = await until_async(
                    windows,
                    lambda window, age=age: window.live and column(window, "age")[0] == age,  # type: ignore[misc]
                )
                assert ids(window) == [f"0:{number}" for number in range(5)]
                assert window.sequence > sequence
        assert way.connections > 4

    asyncio.run(scene())


def test_a_connection_that_only_looks_alive_is_found_out(
    gateway: LocalGateway, way: FaultProxy
) -> None:
    async def scene() -> None:
        async with connect_async(way.address, gateway.secret, timeouts=QUICK) as client:
            windows = client.windows("users_ui", limit=1)
            await until_async(windows, lambda window: window.live)
            way.hold()
            gateway.upsert("users_ui", [person(0, age=77)])
            stale = await until_async(windows, lambda window: window.state is Live.STALE)
            assert "no message from the gateway for 15 s" in stale.message
            way.heal()
            await until_async(windows, lambda window: column(window, "age") == [77])

    asyncio.run(scene())


def test_over_a_thin_line_the_newest_arrives_and_not_everything(
    gateway: LocalGateway, way: FaultProxy
) -> None:
    async def scene() -> None:
        async with connect_async(way.address, gateway.secret, timeouts=QUICK) as client:
            windows = client.windows("users_ui", limit=200)
            await until_async(windows, lambda window: window.live)
            way.limit(400_000, Direction.DOWN)
            for age in range(100):
                rows = [person(n, age=age, email="x" * 100) for n in range(200)]
                await asyncio.to_thread(gateway.upsert, "users_ui", rows)
            seen = 0
            async with asyncio.timeout(LIMIT):
                async for window in windows:
                    seen += 1
                    if column(window, "age") == [99] * 200:
                        break
            assert seen < 60

    asyncio.run(scene())
