"""The pipeline is changed from the status page, and everybody sees what becomes of that."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from evergrid.changelog.manifest import Manifest
from evergrid.kafka.message_sender import SentPosition
from evergrid.model.control_request import Verdict
from evergrid.model.errors import LinkError
from evergrid.model.generation import Progress, State
from tests.browser.conftest import Visiting
from tests.browser.reader import TableReader, overhear, wait_for
from tests.browser.tables import SETTINGS, place_all
from tests.browser.visitor import AWAY, Visitor
from tests.support.fault_proxy import FaultProxy
from tests.support.local_gateway import LocalControl, LocalGateway
from tests.support.local_pipeline import LocalPipeline

ASKED = {"usersTopic": "users_v2", "accountsTopic": "accounts", "joinType": "asof"}
MADE_OF = {"usersTopic": "users_v2", "joinType": "asof"}
STATUS = r"^console: Failed to load resource: the server responded with a status of "


@pytest.fixture
def pipeline(gateway: LocalGateway) -> LocalPipeline:
    return place_all(gateway)


@pytest.fixture
def ops(pipeline: LocalPipeline, visitor: Visitor) -> Visitor:
    """Somebody at the status page whose key may control."""
    visitor.open("/status", visitor.gateway.secrets["ops"])
    return visitor


def region(page: Page, name: str) -> Locator:
    return page.get_by_role("main").get_by_role("region", name=name, exact=True)


def panel(page: Page) -> Locator:
    return region(page, "Change the pipeline")


def button(page: Page) -> Locator:
    return panel(page).locator("button[type=submit]")


def notice(page: Page) -> Locator:
    """The line across every page."""
    return page.locator("app-preparing p")


def choose(page: Page) -> None:
    panel(page).get_by_label("Topic of users").select_option("users_v2")
    panel(page).get_by_role("radio", name="as-of").check()


def press(ops: Visitor) -> int:
    """Send what is chosen; the offset of the message."""
    sent = len(ops.gateway.handed_over)
    button(ops.page).click()
    wait_for(ops.page, lambda: len(ops.gateway.handed_over), lambda count: count == sent + 1)
    expect(panel(ops.page)).to_contain_text("Sent.")
    return sent


# Who may


def test_who_may_only_look_sees_what_runs_and_is_told_so(visitor: Visitor) -> None:
    page = visitor.open("/status")
    expect(panel(page)).to_contain_text("Your key is read-only.")
    expect(panel(page)).to_contain_text(re.compile(r"users\s*users\s*accounts\s*accounts"))
    expect(panel(page)).to_contain_text("left join")
    for role in ("button", "combobox", "radio"):
        expect(panel(page).locator(f"role={role}")).to_have_count(0)
    expect(region(page, "Generations")).to_contain_text("Generation 1")
    assert [url for url in visitor.requests if "/api/control" in url] == []


def test_the_form_offers_what_may_be_chosen_and_says_what_runs(ops: Visitor) -> None:
    form = panel(ops.page)
    users = form.get_by_label("Topic of users")
    expect(users.locator("option")).to_have_text(
        ["accounts", "accounts_v2", "users (running)", "users_v2"]
    )
    expect(users).to_have_value("users")
    expect(form.get_by_label("Topic of accounts")).to_have_value("accounts")
    types = form.get_by_role("group", name="Join type of final").get_by_role("radio")
    expect(types).to_have_count(3)
    expect(form.get_by_role("radio", name=re.compile(r"^left \(running\)"))).to_be_checked()
    expect(form).to_contain_text(
        "Each message of accounts, with the one of users that was the latest at its time."
    )
    expect(button(ops.page)).to_be_disabled()
    expect(button(ops.page)).to_have_accessible_description(re.compile("this is what runs"))
    choose(ops.page)
    expect(button(ops.page)).to_have_text("Switch to users_v2, as-of join")
    expect(button(ops.page)).to_be_enabled()
    users.select_option("accounts")
    expect(button(ops.page)).to_be_disabled()
    expect(form).to_contain_text("users and accounts would both read accounts.")


def test_a_pipeline_that_has_said_nothing_yet_is_waited_for(
    tmp_path: Path, visiting: Visiting
) -> None:
    gateway = LocalGateway(tmp_path)
    gateway.new_key("ops", control=True)
    with gateway:
        page = visiting(gateway).open("/status", gateway.secrets["ops"])
        expect(panel(page)).to_contain_text("The pipeline has not offered any choices yet.")
        expect(region(page, "Control messages")).to_contain_text("no table of control messages")
        page.close()


def test_where_nothing_runs_yet_topics_are_as_configured(
    tmp_path: Path, visiting: Visiting
) -> None:
    gateway = LocalGateway(tmp_path)
    gateway.new_key("ops", control=True)
    with gateway:
        LocalPipeline(gateway)
        page = visiting(gateway).open("/status", gateway.secrets["ops"])
        users = panel(page).get_by_label("Topic of users")
        expect(users.locator("option").first).to_have_text("as configured")
        expect(users).to_have_value("")
        expect(panel(page)).to_contain_text("Nothing runs yet.")
        users.select_option("users_v2")
        button(page).click()
        expect(panel(page)).to_contain_text("Sent.")
        page.close()
    assert json.loads(gateway.handed_over[0].value) == {"usersTopic": "users_v2"}


# What becomes of it


def test_a_switch_is_asked_for_followed_and_live(ops: Visitor, pipeline: LocalPipeline) -> None:
    page = ops.page
    choose(page)
    offset = press(ops)
    (handed,) = ops.gateway.handed_over
    assert (json.loads(handed.value), handed.by) == (ASKED, "key ops")

    pipeline.judge(offset, ASKED, Verdict.WAITING)
    expect(panel(page)).to_contain_text("The pipeline has read the message and starts soon.")
    pipeline.judge(offset, ASKED, Verdict.PREPARING, generation=2)
    progress = Progress("writing the past of final_ui", 42, 100)
    pipeline.put(2, State.PREPARING, MADE_OF, progress=progress)
    expect(panel(page)).to_contain_text("Generation 2 is being prepared.")
    bar = panel(page).get_by_role("progressbar", name="Preparation")
    expect(bar).to_have_attribute("value", "42")
    expect(panel(page)).to_contain_text("Writing the past of final_ui: 42 of 100 (42%).")
    expect(button(page)).to_be_disabled()
    expect(panel(page)).to_contain_text("Generation 2 is already being prepared with these values.")

    pages = page.get_by_role("navigation", name="Pages")
    pages.get_by_role("link", name="Dashboard").click()
    expect(notice(page)).to_contain_text(
        "A new pipeline is being prepared: writing the past of final_ui, 42%."
    )
    pipeline.put(2, State.PREPARING, MADE_OF, progress=Progress("catching up", 90, 100))
    expect(notice(page)).to_contain_text("catching up, 90%")
    notice(page).get_by_role("link", name="Status").click()
    expect(panel(page)).to_contain_text("Generation 2 is being prepared.")
    pages.get_by_role("link", name="Dashboard").click()
    heard = overhear(page)
    pipeline.switch(2)
    pipeline.judge(offset, ASKED, Verdict.APPLIED, generation=2)
    heard("The new pipeline is live: the tables show its rows.")
    pages.get_by_role("link", name="Status").click()
    expect(panel(page)).to_contain_text(re.compile(r"Live since \d\d:\d\d:\d\d, as generation 2\."))
    expect(panel(page)).to_contain_text("this is what runs")
    expect(button(page)).to_be_disabled()
    expect(notice(page)).to_have_count(0)  # by itself, after some seconds
    assert len(ops.sockets) == 1

    # Somebody else goes back: the form does not hold on to what has come true.
    pipeline.switch(1)
    expect(panel(page).get_by_role("radio", name=re.compile(r"^left \(running\)"))).to_be_checked()
    expect(panel(page).get_by_label("Topic of users")).to_have_value("users")
    expect(button(page)).to_be_disabled()


@pytest.mark.parametrize(
    ("verdict", "reason", "said"),
    [
        (Verdict.IGNORED, "Generation 1, which runs, is just that.", "Ignored: nothing to change."),
        (Verdict.SUPERSEDED, "Message 0:9 came first.", "Superseded by a later message."),
        (Verdict.INVALID, "Topic users_v2 is one of Evergrid's own.", "Invalid message"),
    ],
)
def test_a_verdict_is_said_with_its_reason(
    ops: Visitor, pipeline: LocalPipeline, verdict: Verdict, reason: str, said: str
) -> None:
    ignored = verdict is Verdict.IGNORED
    choose(ops.page)
    pipeline.judge(press(ops), ASKED, verdict, reason=reason, generation=1 if ignored else None)
    expect(panel(ops.page)).to_contain_text(said)
    expect(panel(ops.page)).to_contain_text(reason)
    # What is not done stays chosen; what runs already is no wish any more.
    expect(button(ops.page)).to_be_enabled(enabled=not ignored)
    listed = region(ops.page, "Control messages").get_by_role("listitem").first
    expect(listed).to_contain_text(verdict.value.capitalize())
    expect(listed).to_contain_text(reason)


def test_what_failed_can_be_tried_again(ops: Visitor, pipeline: LocalPipeline) -> None:
    page, error = ops.page, "topic users_v2 does not exist. Create it, or name another"
    choose(page)
    offset = press(ops)
    pipeline.judge(offset, ASKED, Verdict.PREPARING, generation=2)
    pipeline.put(2, State.PREPARING, MADE_OF)
    expect(notice(page)).to_contain_text("A new pipeline is being prepared.")
    pipeline.put(2, State.FAILED, MADE_OF, error=error)
    pipeline.judge(offset, ASKED, Verdict.FAILED, reason=error, generation=2)
    expect(notice(page)).to_contain_text("failed. The previous one keeps running.")
    expect(panel(page)).to_contain_text(
        "Generation 2 failed; the previous one keeps running. "
        "Topic users_v2 does not exist. Create it, or name another."
    )
    failed = region(page, "Generations").get_by_role("listitem").first
    expect(failed).to_contain_text("Failed")
    expect(failed).to_contain_text("Create it, or name another.")
    panel(page).get_by_role("button", name="Try again").click()
    wait_for(page, lambda: len(ops.gateway.handed_over), lambda count: count == 2)
    first, second = ops.gateway.handed_over
    assert first == second
    pipeline.judge(1, ASKED, Verdict.APPLIED, generation=3)
    expect(panel(page)).to_contain_text("as generation 3.")
    notice(page).get_by_role("button", name="Dismiss").click()
    expect(notice(page)).to_have_count(0)


def test_a_pipeline_that_does_not_run_is_said_to_read_it_later(ops: Visitor) -> None:
    choose(ops.page)
    press(ops)
    expect(panel(ops.page)).to_contain_text("The pipeline has not read it yet.")
    ops.gateway.engine.silent = "The pipeline gives no sign of life."
    expect(panel(ops.page)).to_contain_text("is not running; it reads the message when it starts.")


def test_what_is_being_prepared_can_be_called_off(ops: Visitor, pipeline: LocalPipeline) -> None:
    pipeline.put(2, State.PREPARING, MADE_OF, progress=Progress("catching up", 1, 9))
    expect(button(ops.page)).to_have_text("Keep what runs")
    expect(panel(ops.page)).to_contain_text(
        "Generation 2 (users_v2, accounts, as-of join), which is being prepared, is cancelled."
    )
    press(ops)
    (handed,) = ops.gateway.handed_over
    running = {"usersTopic": "users", "accountsTopic": "accounts", "joinType": "left"}
    assert json.loads(handed.value) == running


# What goes wrong on the way


class BrokenControl(LocalControl):
    """Kafka does not take anything."""

    def send(self, value: bytes, by: str, manifest: Manifest) -> SentPosition:
        raise LinkError("no broker answers", where="topic evergrid-control")


def test_what_kafka_does_not_take_is_said(tmp_path: Path, visiting: Visiting) -> None:
    gateway = LocalGateway(tmp_path, control=BrokenControl(SETTINGS))
    gateway.new_key("ops", control=True)
    with gateway:
        place_all(gateway)
        ops = visiting(gateway)
        ops.allow(STATUS + "503")  # browsers log that by themselves
        page = ops.open("/status", gateway.secrets["ops"])
        choose(page)
        button(page).click()
        alert = panel(page).get_by_role("alert")
        expect(alert).to_contain_text(re.compile(r"^Kafka did not take the message: .*no broker"))
        expect(button(page)).to_be_enabled()
        page.close()


def test_a_gateway_that_does_not_answer_is_said_to_have_sent_it_or_not(
    gateway: LocalGateway, way: FaultProxy, visiting: Visiting
) -> None:
    ops = visiting(gateway, address=way.address)
    ops.allow(AWAY)
    page = ops.open("/status", gateway.secrets["ops"])
    choose(page)
    way.refuse()
    way.reset()
    button(page).click()
    expect(panel(page).get_by_role("alert")).to_contain_text("may have been sent or not")
    way.heal()
    expect(page.get_by_text("Updated every second.")).to_be_visible()
    button(page).click()
    expect(panel(page)).to_contain_text("The pipeline has not read it yet.")
    expect(panel(page).get_by_role("alert")).to_have_count(0)
    assert len(gateway.handed_over) == 1


def test_a_topic_that_is_no_longer_allowed_is_refused_in_words(
    gateway: LocalGateway, visiting: Visiting
) -> None:
    pipeline = LocalPipeline(gateway, SETTINGS, ("users", "accounts", "payments"))
    ops = visiting(gateway)
    ops.allow(STATUS + "400")
    page = ops.open("/status", gateway.secrets["ops"])
    panel(page).get_by_label("Topic of users").select_option("payments")
    pipeline.offer(("users", "accounts"))
    button(page).click()
    alert = panel(page).get_by_role("alert")
    expect(alert).to_contain_text("usersTopic: topic payments is not allowed")
    assert gateway.handed_over == []


# The lists


def test_all_messages_are_listed_the_newest_first(ops: Visitor, pipeline: LocalPipeline) -> None:
    page, history = ops.page, region(ops.page, "Control messages")
    expect(history).to_contain_text("No control messages yet.")
    second = 1_000_000
    at = 1_767_225_600 * second
    pipeline.judge(
        0,
        {"usersTopic": "users_v2"},
        Verdict.APPLIED,
        generation=2,
        asked_at=at,
        decided=at + 12 * second,
    )
    raw = "<b>no JSON</b>"
    pipeline.judge(1, raw, Verdict.INVALID, reason="It is not valid JSON.", by="", asked_at=at + 1)
    items = history.get_by_role("listitem")
    expect(items).to_have_count(2)
    expect(items.nth(0)).to_contain_text(raw)
    expect(items.nth(0)).to_contain_text("It is not valid JSON.")
    expect(items.nth(1)).to_contain_text(re.compile(r"Applied\s*usersTopic\s*users_v2"))
    expect(items.nth(1)).to_contain_text("key ops")
    expect(items.nth(1)).to_contain_text("generation 2")
    expect(items.nth(1)).to_contain_text("live after 12 s")
    for offset in range(2, 12):
        asked = {"joinType": "left"}
        pipeline.judge(offset, asked, Verdict.IGNORED, asked_at=at + offset * second)
    expect(items).to_have_count(5)
    history.get_by_role("button", name="Show 7 more").click()
    expect(items).to_have_count(12)
    history.get_by_role("link", name="All of control_raw").click()
    table = TableReader(page, "control_raw")
    table.shows("verdict", "ignored", "ignored")


def test_generations_are_listed_with_their_states(ops: Visitor, pipeline: LocalPipeline) -> None:
    page = ops.page
    items = region(page, "Generations").get_by_role("listitem")
    expect(items).to_have_count(1)
    expect(items.first).to_contain_text(re.compile(r"Current\s*Generation 1\s*users\s*accounts"))
    progress = Progress("writing the past of final_ui", 1, 4)
    pipeline.put(2, State.PREPARING, MADE_OF, progress=progress)
    bar = items.first.get_by_role("progressbar", name="Preparation of generation 2")
    expect(bar).to_have_attribute("max", "4")
    expect(items.first).to_contain_text("as-of join")
    pipeline.switch(2)
    expect(items.nth(0)).to_contain_text("Current")
    # With the day, shortly before midnight.
    kept = r"Replaced.*kept until (\w+ \d+, \d{4}, )?\d\d:\d\d:\d\d"
    expect(items.nth(1)).to_contain_text(re.compile(kept))
    expect(region(page, "Pipeline")).to_contain_text("Generation 2")

    # Going back is quick, and the number goes down.
    items.nth(1).get_by_role("button", name="Select what generation 1 had again").click()
    expect(button(page)).to_be_focused()
    expect(button(page)).to_have_text("Switch to users, left join")
    button(page).click()
    wait_for(page, lambda: len(ops.gateway.handed_over), lambda count: count == 1)
    pipeline.switch(1)
    expect(items.nth(1)).to_contain_text("Current")
    expect(items.nth(0)).to_contain_text("Replaced")
    expect(region(page, "Pipeline")).to_contain_text("Generation 1")
    pipeline.forget(2)
    expect(items.nth(0)).to_contain_text("Gone")
    expect(items.nth(0)).not_to_contain_text("kept")


def test_a_key_for_some_tables_sees_generations_without_what_it_may_not_read(
    gateway: LocalGateway, pipeline: LocalPipeline, visiting: Visiting
) -> None:
    key = gateway.new_key("accountant", ["accounts_*"])
    gateway.stop()
    gateway.start()  # a gateway that runs knows a new key only after a second
    page = visiting(gateway).open("/status", key)
    generations = region(page, "Generations")
    expect(generations).to_contain_text("Generation 1")
    expect(generations).not_to_contain_text("users")
    expect(region(page, "Control messages")).to_contain_text("that your key may read")
    pipeline.put(2, State.PREPARING, MADE_OF, progress=Progress("writing users_ui", 1, 4))
    expect(notice(page)).to_have_text(re.compile(r"A new pipeline is being prepared\.\s*Status"))
    expect(page.get_by_role("main")).not_to_contain_text("users_ui")


# By keys, by ear


def test_everything_is_done_by_keys(ops: Visitor) -> None:
    page = ops.page
    panel(page).get_by_label("Topic of users").focus()
    page.keyboard.type("users_v")
    page.keyboard.press("Tab")
    expect(panel(page).get_by_label("Topic of accounts")).to_be_focused()
    page.keyboard.press("Tab")
    expect(panel(page).get_by_role("radio", name="left")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(panel(page).get_by_role("radio", name="as-of")).to_be_checked()
    page.keyboard.press("Tab")
    expect(button(page)).to_be_focused()
    expect(button(page)).to_have_text("Switch to users_v2, as-of join")
    page.keyboard.press("Enter")
    expect(panel(page).get_by_role("status")).to_contain_text("Sent.")
    wait_for(page, lambda: len(ops.gateway.handed_over), lambda count: count == 1)
    assert json.loads(ops.gateway.handed_over[0].value) == ASKED


def test_a_preparation_is_said_aloud_once_and_its_end(
    ops: Visitor, pipeline: LocalPipeline
) -> None:
    spoken = ops.page.locator("app-preparing [role=status]")
    expect(spoken).to_have_text("")
    for done in (1, 2):
        pipeline.put(2, State.PREPARING, MADE_OF, progress=Progress("catching up", done, 9))
        expect(notice(ops.page)).to_contain_text(f"{done * 100 // 9}%")
        expect(spoken).to_have_text("A new pipeline is being prepared.")
    heard = overhear(ops.page)
    pipeline.switch(2)
    heard("The new pipeline is live: the tables show its rows.")
    # The page's own figures go on every second, although nothing is waited for any more.
    updated = ops.page.get_by_text("Updated every second.")
    asked = len(ops.requests)
    wait_for(ops.page, lambda: len(ops.requests), lambda count: count > asked + 10)
    expect(updated).to_be_visible()
