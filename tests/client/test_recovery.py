"""Cuts, silences and restarts: windows say so, and come back by themselves."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from evergrid.client import Live, connect_async
from evergrid.client.errors import Unreachable
from evergrid.testing.gateway import LocalGateway
from tests.client.people import LIMIT, QUICK, column, connected, ids, person, until_async
from tests.client.proxy import Proxy


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
            gateway.engine.instance = "another"
            await asyncio.to_thread(gateway.start)
            gateway.delete("users_ui", ["0:0"])
            window = await until_async(windows, lambda window: ids(window) == ["0:1", "0:2"])
            assert (window.state, window.stale_since) == (Live.LIVE, None)
            assert (await client.table("users_ui")).rows == 9
            gateway.upsert("users_ui", [person(10)])
            async with asyncio.timeout(LIMIT):
                assert {(await anext(changes)).id for _ in range(2)} == {"0:9", "0:10"}

    asyncio.run(scene())


def behind(gateway: LocalGateway, port: int) -> str:
    """Have the gateway go by a proxy's address."""
    gateway.stop()
    gateway.settings = msgspec.structs.replace(gateway.settings, hosts=(f"127.0.0.1:{port}",))
    gateway.start()
    return f"http://127.0.0.1:{port}"


def test_after_a_cut_the_window_goes_on_where_it_was(gateway: LocalGateway) -> None:
    async def scene() -> None:
        async with Proxy(gateway.port) as proxy:
            url = await asyncio.to_thread(behind, gateway, proxy.port)
            async with connect_async(url, gateway.secret, patience=QUICK) as client:
                windows = client.windows("users_ui", limit=5)
                first = await until_async(windows, lambda window: window.live)
                for number in range(3):
                    proxy.cut()
                    await until_async(windows, lambda window: window.state is Live.STALE)
                    window = await until_async(windows, lambda window: window.live)
                    assert ids(window) == ids(first)
                    gateway.upsert("users_ui", [person(0, age=number + 100)])
                    window = await until_async(
                        windows,
                        lambda window, age=number + 100: column(window, "age")[0] == age,  # type: ignore[misc]
                    )
                    assert window.sequence > first.sequence

    asyncio.run(scene())


def test_a_connection_that_only_looks_alive_is_found_out(gateway: LocalGateway) -> None:
    async def scene() -> None:
        async with Proxy(gateway.port) as proxy:
            url = await asyncio.to_thread(behind, gateway, proxy.port)
            async with connect_async(url, gateway.secret, patience=QUICK) as client:
                windows = client.windows("users_ui", limit=1)
                await until_async(windows, lambda window: window.live)
                proxy.freeze()
                gateway.upsert("users_ui", [person(0, age=77)])
                stale = await until_async(windows, lambda window: window.state is Live.STALE)
                assert "no word from the gateway for 15 s" in stale.message
                proxy.thaw()
                await until_async(windows, lambda window: column(window, "age") == [77])

    asyncio.run(scene())
