"""Who may see what: keys, rights and certificates, with errors that say what to do."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from evergrid.client import AsyncClient, connect_async
from evergrid.client.client_errors import Denied, Rejected
from evergrid.model.table import Table
from tests.certificates import self_signed
from tests.client.people import LIMIT, QUICK, person, until_async
from tests.support.local_gateway import LocalGateway


async def with_new_key(gateway: LocalGateway, secret: str) -> AsyncClient:
    """A client with a key that the gateway may not have read yet."""
    async with asyncio.timeout(LIMIT):
        while True:
            try:
                return await connect_async(gateway.address, secret, timeouts=QUICK)
            except Denied:
                await asyncio.sleep(0.05)


def test_a_wrong_key_is_said_at_once_and_not_repeated(gateway: LocalGateway) -> None:
    async def scene() -> None:
        with pytest.raises(Denied, match="EVERGRID_KEY") as denied:
            await connect_async(gateway.address, "eg_wrong-wrong-wrong")
        assert "eg_wrong" not in str(denied.value)
        assert not denied.value.retry

    asyncio.run(scene())


def test_a_key_for_some_tables(gateway: LocalGateway) -> None:
    async def scene() -> None:
        async with await with_new_key(gateway, gateway.new_key("few", ["orders_*"])) as client:
            assert await client.tables() == []
            with pytest.raises(Denied, match="users_ui"):
                await client.snapshot("users_ui")
            with pytest.raises(Denied, match="users_ui"):
                await until_async(client.windows("users_ui"), lambda _: False)

    asyncio.run(scene())


def test_a_key_that_is_removed_ends_its_windows(gateway: LocalGateway) -> None:
    async def scene() -> None:
        async with await with_new_key(gateway, gateway.new_key("short-lived")) as client:
            windows = client.windows("users_ui")
            await until_async(windows, lambda window: window.live)
            gateway.remove_key("short-lived")
            with pytest.raises(Denied):
                await until_async(windows, lambda _: False)

    asyncio.run(scene())


def test_over_tls_with_an_authority_of_ones_own(tmp_path: Path, users: Table) -> None:
    files = self_signed(tmp_path)

    async def scene(gateway: LocalGateway) -> None:
        assert gateway.address.startswith("https://")
        with pytest.raises(Rejected, match=r"self.signed certificate.*ca="):
            await connect_async(gateway.address, gateway.secret)
        async with connect_async(gateway.address, gateway.secret, ca=files.certificate) as client:
            assert (await client.snapshot("users_ui")).num_rows == 1
            await until_async(client.windows("users_ui"), lambda window: window.live)

    with LocalGateway(tmp_path, tls=files) as gateway:
        gateway.place(users, [person(1)])
        asyncio.run(scene(gateway))
    gc.collect()  # a connection that was left open would say so
