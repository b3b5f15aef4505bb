"""A real Chromium, and gateways with tables for it to show.

`visitor` looks at `gateway`, which has small tables and belongs to the test alone.
`visiting(gateway, **options)` makes more of them, with the options of a browser's context:
color_scheme="dark", viewport={"width": 390, "height": 844}, reduced_motion="reduce", ...
The key `ops` of a gateway may control: visitor.open("/status", gateway.secrets["ops"]).
`way` is a network before `gateway` that can be cut: visiting(gateway, address=way.address).
`big_gateway` has a table of a million rows, and is shared: tests must not change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser

from tests.browser.tables import MILLION, million, place_all
from tests.browser.visitor import Visitor, open_browser
from tests.support.fault_proxy import FaultProxy
from tests.support.local_gateway import LocalGateway

Visiting = Callable[..., Visitor]
LOT = 50_000
AUDIT = "Control: key ops "  # who asked for what is to be in the log


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[LocalGateway]:
    made = LocalGateway(tmp_path)
    made.new_key("ops", control=True)
    with made as running:
        place_all(running)
        yield running
        assert [line for line in running.said if not line.startswith(AUDIT)] == []


@pytest.fixture
def way(gateway: LocalGateway) -> Iterator[FaultProxy]:
    with FaultProxy(gateway.port) as way:
        gateway.stop()
        hosts = (f"127.0.0.1:{way.port}",)
        gateway.settings = msgspec.structs.replace(gateway.settings, hosts=hosts)
        gateway.start()
        yield way


@pytest.fixture(scope="session")
def big_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalGateway]:
    with LocalGateway(tmp_path_factory.mktemp("big")) as running:
        running.place(MILLION)
        rows = million()
        for start in range(0, len(rows), LOT):
            running.upsert(MILLION.name, rows.slice(start, LOT))
        yield running
        assert running.said == []


@pytest.fixture
def visiting(browser: Browser) -> Iterator[Visiting]:
    """Makes visitors; at the end, what any of them should not have seen fails the test."""
    visitors: list[Visitor] = []

    def visit(gateway: LocalGateway, **options: Any) -> Visitor:
        visitors.append(Visitor(browser, gateway, **options))
        return visitors[-1]

    yield visit
    for visitor in visitors:
        visitor.close()
    problems = [problem for visitor in visitors for problem in visitor.unforeseen()]
    assert problems == []


@pytest.fixture
def visitor(gateway: LocalGateway, visiting: Visiting) -> Visitor:
    """Made after its gateway, so gone before it: a page whose gateway ends complains."""
    return visiting(gateway)
