"""Over https the page is the same, and its socket is as safe as itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visiting
from tests.browser.tables import place_all, user
from tests.certificates import self_signed
from tests.support.local_gateway import LocalGateway


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[LocalGateway]:
    with LocalGateway(tmp_path, tls=self_signed(tmp_path)) as running:
        place_all(running)
        yield running
        assert running.said == []


def test_tables_are_live_over_wss(gateway: LocalGateway, visiting: Visiting) -> None:
    # Which authorities a browser trusts is its own affair.
    visitor = visiting(gateway, ignore_https_errors=True)
    page = visitor.open("/tables/users_ui")
    expect(page.get_by_text("Person 1", exact=True)).to_be_visible()
    gateway.upsert("users_ui", [user(1, name="Mei")])
    expect(page.get_by_text("Mei", exact=True)).to_be_visible()
    assert [socket.url for socket in visitor.sockets] == [
        f"wss://127.0.0.1:{gateway.port}/api/live"
    ]
    assert all(url.startswith(("https:", "wss:", "data:", "blob:")) for url in visitor.requests)
