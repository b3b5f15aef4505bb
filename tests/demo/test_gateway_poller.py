"""The poller reads the figures of the tables from a gateway, also after it was away."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.client.people import person

from evergrid.config import load
from evergrid.demo.board import Board
from evergrid.demo.gateway_poller import GatewayPoller
from evergrid.model.errors import ConfigError
from evergrid.testing.changelog_tables import wait_for
from evergrid.testing.local_gateway import LocalGateway

LIMIT = 60.0
USERS = load(None, {}).raw_tables()[0]


def test_figures_come_and_come_again_after_the_gateway_was_away(tmp_path: Path) -> None:
    board = Board(("users_ui",), "quarantine")
    with LocalGateway(tmp_path) as gateway:
        gateway.place(USERS, [person(1)])
        poller = GatewayPoller(gateway.address, gateway.secret, board)
        poller.start()
        wait_for(lambda: [t.rows for t in board.view().tables], lambda rows: rows == [1], LIMIT)
        assert board.view().address == f"{gateway.address}/#key={gateway.secret}"
        gateway.stop()
        wait_for(lambda: board.view().address, lambda address: not address, LIMIT)
        gateway.start()
        gateway.upsert("users_ui", [person(2)])
        wait_for(lambda: [t.rows for t in board.view().tables], lambda rows: rows == [2], LIMIT)
        poller.check()
        poller.stop()


def test_what_ends_the_thread_is_raised_in_the_main_thread() -> None:
    poller = GatewayPoller("nonsense", "key", Board((), "quarantine"))
    poller.start()

    def failure() -> Exception | None:
        try:
            poller.check()
        except ConfigError as error:
            return error
        return None

    wait_for(failure, lambda error: error is not None, LIMIT)
    with pytest.raises(ConfigError, match="address"):
        poller.check()
