"""Control messages from a program: sent as they are, or refused with the reason."""

from __future__ import annotations

import asyncio
import json

import pytest

import evergrid
from evergrid.client import Asked
from evergrid.client.client_errors import Closed, Denied, Rejected
from tests.support.local_gateway import LocalGateway


def test_a_message_is_sent_and_its_place_is_the_row_to_watch(gateway: LocalGateway) -> None:
    with evergrid.connect(gateway.address, gateway.secrets["ops"]) as client:
        assert client.ask(joinType="inner") == Asked(0, 0)
        asked = client.ask(usersTopic="users_v2", joinType="asof")
    assert asked.row_id == "0:1"
    fields = {"usersTopic": "users_v2", "joinType": "asof"}
    assert json.loads(gateway.handed_over[1].value) == fields
    assert gateway.handed_over[1].by == "key ops"
    with pytest.raises(Closed):
        client.ask(joinType="inner")


def test_what_cannot_be_is_said_with_the_reason(gateway: LocalGateway) -> None:
    with evergrid.connect(gateway.address, gateway.secrets["ops"]) as client:
        with pytest.raises(Rejected, match="expected one of asof, left, inner") as wrong:
            client.ask(joinType="outer")
        assert (wrong.value.code, wrong.value.retry) == ("bad_control", False)
        with pytest.raises(Rejected, match="it asks for nothing"):
            client.ask()
    with (
        evergrid.connect(gateway.address, gateway.secret) as client,
        pytest.raises(Denied, match="may not send control messages") as denied,
    ):
        client.ask(joinType="inner")
    assert denied.value.code == "no_rights"
    assert gateway.handed_over == []


def test_the_same_on_an_event_loop(gateway: LocalGateway) -> None:
    async def scene() -> Asked:
        async with evergrid.connect_async(gateway.address, gateway.secrets["ops"]) as client:
            return await client.ask(accountsTopic="accounts.new")

    assert asyncio.run(scene()) == Asked(0, 0)
