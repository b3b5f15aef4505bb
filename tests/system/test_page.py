"""The page in a real browser, with real Kafka, Spark and gateway behind it.

One world for all tests: a start of Spark costs half a minute. What is painted is compared, cell
by cell, with what the oracle says.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.testing.installation import Installation
from tests.browser.reader import NUMBER, TableReader, wait_for
from tests.browser.visitor import AWAY, Guest, open_browser
from tests.support.fault_proxy import FaultProxy
from tests.support.free_ports import free_port
from tests.support.reference_viewer import WindowOptions
from tests.system.conftest import PATIENCE, two_sources
from tests.system.gateways import GatewayProcess, gateway_section
from tests.system.painted import Stage

SEED = 20_261_130
TABLES = ("users_ui", "accounts_ui", "final_ui")
SCREEN = {"width": 1700, "height": 1100}
CASES = 12

Visit = Callable[..., Guest]


@pytest.fixture(scope="module")
def stage(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    print(f"seed {SEED}")
    port = free_port()
    with FaultProxy(port) as way:
        config = {
            "internal_topics": {"prefix": "eg-page"},
            "sources": two_sources("page"),
            "joins": {"final": {"table": "final_ui", "left": "users", "right": "accounts"}},
            "gateway": gateway_section(port, way.port, linger="1s"),
        }
        world = Installation(tmp_path_factory.mktemp("page"), broker.connection(), config)
        world.make_topics(partitions=2)
        with GatewayProcess(world, port) as gateway:
            pipeline = world.start_live()
            try:
                stage = Stage(world, gateway, way, random.Random(SEED))
                for number in range(CASES):
                    stage.send_case(f"c{number}")
                world.wait_until_exact()
                yield stage
            finally:
                pipeline.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def visit(stage: Stage, browser: Browser) -> Iterator[Visit]:
    """Makes guests, each with nothing remembered, of whom nobody may have seen an error."""
    guests: list[Guest] = []

    def make() -> Guest:
        manners = {"locale": "en-US", "timezone_id": "UTC", "viewport": SCREEN}
        guests.append(Guest(browser, stage.way.address, stage.gateway.secret, **manners))
        return guests[-1]

    yield make
    for guest in guests:
        guest.close()
    assert [problem for guest in guests for problem in guest.unforeseen()] == []


def is_right(stage: Stage, table: TableReader, view: WindowOptions) -> None:
    """Return when the lines in view are those of the oracle, cell by cell."""
    wanted = stage.painted(table.name, {**view, "limit": 300})

    def same(seen: list[dict[str, str]]) -> bool:
        return bool(seen) and seen == wanted[: len(seen)] and len(seen) >= min(10, len(wanted))

    try:
        table.wait(table.lines, same)
    except AssertionError:
        pairs = zip(table.lines(), wanted, strict=False)
        wrong = next(((one, other) for one, other in pairs if one != other), None)
        raise AssertionError(f"{table.name} {view}: painted and expected are {wrong}") from None
    table.is_live()


def open_table(visit: Visit, name: str, look: str = "") -> TableReader:
    return TableReader(visit().open(f"/tables/{name}{look}"), name)


@pytest.mark.parametrize("name", TABLES)
def test_what_is_painted_is_what_the_oracle_says(stage: Stage, visit: Visit, name: str) -> None:
    is_right(stage, open_table(visit, name), {})


def test_rows_appear_and_change_by_messages_alone(stage: Stage, visit: Visit) -> None:
    page = visit().open("/tables/final_ui?order=-ts")
    table = TableReader(page, "final_ui")
    is_right(stage, table, {"order": "-ts"})
    stage.send("users", userId="mei", name="Mei", email="mei@example.com", age=1234)
    table.shows("name", "Mei")
    table.shows("age", "1,234")
    table.shows("balance", "–")
    stage.send("accounts", userId="mei", accountType="savings", balance="1234567.80")
    table.shows("balance", "1,234,567.80")
    is_right(stage, table, {"order": "-ts"})
    table.cell(1, NUMBER).click()
    details = page.get_by_role("dialog", name="Row of final_ui")
    expect(details).to_contain_text(re.compile(r"topic accounts-page\s*partition 0\s*offset \d+"))
    expect(details).to_contain_text("mei@example.com")


def test_order_filter_search_jump_and_page(stage: Stage, visit: Visit) -> None:
    table = open_table(visit, "final_ui")
    is_right(stage, table, {})
    table.sort("balance")
    table.sort("balance")
    stage.send_case("sorted")
    is_right(stage, table, {"order": "-balance"})
    table.filter("accountType", "is not empty")
    where: dict[str, object] = {"column": "accountType", "op": "not_null"}
    stage.send_case("filtered")
    is_right(stage, table, {"order": "-balance", "where": where})
    table.search.fill("c1")
    is_right(stage, table, {"order": "-balance", "where": where, "search": "c1"})
    table.search.fill("")
    table.region.get_by_role("button", name="Remove the filter").click()
    is_right(stage, table, {"order": "-balance"})
    total = len(stage.painted("final_ui", {"limit": 10**6}))
    table.go_to(total // 2)
    is_right(stage, table, {"order": "-balance", "offset": total // 2 - 1})
    table.press("Pages")
    table.pager.get_by_label("Rows a page").select_option("50")
    table.says(f"rows 1–50 of {total:,}")
    table.pager.get_by_role("button", name="Next page").click()
    table.says(f"rows 51–{min(100, total)} of {total:,}")
    is_right(stage, table, {"order": "-balance", "offset": 50, "limit": 50})


def dashboard(stage: Stage, page: Page) -> None:
    """Return when each of the three tables ends with what the oracle has last."""
    for name in TABLES:
        table = TableReader(page, name)
        wanted = stage.painted(name, {"limit": 10**6})
        wait_for(
            page,
            table.lines,
            lambda seen, wanted=wanted: bool(seen) and seen == wanted[-len(seen) :],  # type: ignore[misc]
        )
        table.is_live()


def test_three_tables_are_one_connection_and_a_view_each(stage: Stage, visit: Visit) -> None:
    guest = visit()
    page = guest.open()
    dashboard(stage, page)
    one_each = {"connections": 1, "views": 3, "windows": 3, "subscribers": 3}
    stage.gateway.wait_for_metrics(PATIENCE, **one_each)
    stage.send("users", userId="ada", name="Ada", email="ada@example.com", age=36)
    stage.send("accounts", userId="ada", accountType="current", balance="-0.01")
    dashboard(stage, page)
    assert len([socket for socket in guest.sockets if not socket.is_closed()]) == 1


def test_the_network_is_cut_and_comes_back(stage: Stage, visit: Visit) -> None:
    guest = visit()
    guest.allow(AWAY)
    page = guest.open()
    dashboard(stage, page)
    page.evaluate("() => { window.same = true }")
    stage.way.refuse()
    stage.way.cut()
    expect(TableReader(page, "final_ui").status).to_contain_text("Reconnecting since")
    stage.send_case("cut")
    stage.way.heal()
    dashboard(stage, page)
    assert page.evaluate("() => window.same") is True


def test_the_gateway_is_killed_and_started_again(stage: Stage, visit: Visit) -> None:
    guest = visit()
    guest.allow(AWAY)
    page = guest.open()
    dashboard(stage, page)
    page.evaluate("() => { window.same = true }")
    stage.gateway.kill()
    try:
        expect(TableReader(page, "users_ui").status).to_contain_text("Reconnecting since")
        stage.send_case("killed")
    finally:
        stage.gateway.start()
    dashboard(stage, page)
    assert page.evaluate("() => window.same") is True
    is_right(stage, open_table(visit, "final_ui"), {})


def test_a_wrong_key_and_a_table_that_there_is_not(visit: Visit) -> None:
    page = visit().open(key="eg_wrong")
    expect(page.get_by_role("alert")).to_contain_text("The gateway does not know this key.")
    table = open_table(visit, "nothing_ui")
    expect(table.status).to_have_text("No such table")
    expect(table.region.get_by_text(re.compile("no table.* nothing_ui"))).to_be_visible()


def test_bad_messages_are_seen_with_reason_and_text(stage: Stage, visit: Visit) -> None:
    page = visit().open("/quarantine")
    table = TableReader(page, "quarantine")
    bad = "<script>alert(1)</script>"
    stage.send("users", userId="bad", age=bad)
    table.wait(lambda: table.cells("reason")[:1], lambda seen: bad in "".join(seen))
    table.cell(1, NUMBER).click()
    message = page.get_by_role("dialog", name="Message in quarantine")
    expect(message.locator("pre")).to_have_text(json.dumps({"userId": "bad", "age": bad}))
    count = len(stage.world.expected("quarantine"))
    expect(page.get_by_text(f"{count} messages could not become rows")).to_be_visible()


def test_the_status_page_tells_of_the_pipeline(stage: Stage, visit: Visit) -> None:
    page = visit().open("/status")
    pipeline = page.get_by_role("region", name="Pipeline", exact=True)
    expect(pipeline).to_contain_text("The pipeline runs.")
    expect(pipeline).to_contain_text("Generation 1")
    expect(pipeline).to_contain_text("left join of users and accounts")
    rows = len(stage.world.expected("final_ui"))
    card = page.get_by_role("main").get_by_role("region", name="final_ui", exact=True)
    expect(card.get_by_text(f"{rows:,}", exact=True)).to_be_visible()
