"""The demo reads the figures of the tables from a gateway, also after it was away."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.client.people import person
from tests.support.local_gateway import LocalGateway

from evergrid.config import load
from evergrid.demo.board import Board
from evergrid.demo.demo_services import GatewayPoller
from evergrid.model.errors import ConfigError
from evergrid.testing.changelog_tables import wait_for

LIMIT = 60.0
USERS = load(None, {}).raw_tables()[0]


def test_figures_come_and_come_again_after_the_gateway_was_away(tmp_path: Path) -> None:
    board = Board(("users_ui",), "quarantine", lambda _: None)
    with LocalGateway(tmp_path) as gateway:
        gateway.place(USERS, [person(1)])
        poller = GatewayPoller(gateway.address, gateway.secret, board)

        def rows() -> list[int]:
            poller.poll()
            return [table.rows for table in board.tables]

        def address() -> str:
            poller.poll()
            return board.address

        wait_for(rows, lambda found: found == [1], LIMIT)
        assert board.address == f"{gateway.address}/#key={gateway.secret}"
        gateway.stop()
        wait_for(address, lambda found: not found, LIMIT)
        gateway.start()
        gateway.upsert("users_ui", [person(2)])
        wait_for(rows, lambda found: found == [2], LIMIT)
        poller.close()


def test_what_the_gateway_cannot_mend_ends_the_demo() -> None:
    poller = GatewayPoller("nonsense", "key", Board((), "quarantine", lambda _: None))
    with pytest.raises(ConfigError, match="address"):
        poller.poll()
