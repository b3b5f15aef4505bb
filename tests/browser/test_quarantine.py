"""Bad messages with their reasons and raw text, which is only ever text."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.reader import TableReader, words
from tests.browser.tables import QUARANTINE, bad_message
from tests.browser.visitor import Visitor
from tests.support.local_gateway import LocalGateway

HOSTILE = [
    "<script>window.hacked = 1</script>",
    '<img src="/absent.png" onerror="window.hacked = 1">',
    '"></pre><iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>',
    "<svg onload=window.hacked=1><style>* { display: none }</style>",
    "{{constructor.constructor('window.hacked = 1')()}} ${window.hacked = 1}",
    '<a href="javascript:window.hacked=1">click</a><base href="http://elsewhere.example/">',
    "\u202eright to left\u202c \u0000 \x1b[31m \ufffd \U0001f600 \u200b",
    '{"userId": "U1",\n\t"age": "' + "old" * 20_000 + '"}',
]
REASONS = ["not valid JSON", "age: 'old' is not integer", "duplicate field name: age"]


@pytest.fixture
def gateway(gateway: LocalGateway) -> LocalGateway:
    rows = [
        bad_message(n, text=text, reason=REASONS[n % 3], topic="users" if n % 2 else "accounts")
        for n, text in enumerate(HOSTILE)
    ]
    rows.append(bad_message(len(HOSTILE), text=None, reason="tombstone"))
    rows.append(bad_message(len(HOSTILE) + 1, text="x", reason=f"x: '{HOSTILE[1]}' is not integer"))
    gateway.place(QUARANTINE, rows, generation=0)
    return gateway


def message(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Message in quarantine")


def is_harmless(page: Page) -> None:
    assert page.evaluate("() => 'hacked' in window") is False
    assert (
        page.locator("iframe, base[href^='http'], a[href^='javascript'], img[onerror]").count() == 0
    )


def test_raw_text_is_shown_whole_and_does_nothing(visitor: Visitor) -> None:
    page = visitor.open("/quarantine")
    table = TableReader(page, "quarantine")
    table.says("rows 1–10 of 10")
    for number, text in enumerate(reversed(HOSTILE), 3):  # the newest first
        table.cell(number, "#").click()
        raw = message(page).locator("pre")
        expect(raw).to_be_visible()
        table.wait(raw.text_content, lambda said, text=text: said == text)  # type: ignore[misc]
    is_harmless(page)


def test_raw_text_in_a_cell_and_a_reason_with_markup_do_nothing_either(visitor: Visitor) -> None:
    page = visitor.open("/quarantine")
    table = TableReader(page, "quarantine")
    table.says("rows 1–10 of 10")
    table.press("Columns")
    table.dialog.get_by_role("checkbox", name="text", exact=True).click()
    page.keyboard.press("Escape")
    table.wait(lambda: "text" in table.columns(), bool)
    table.wait(lambda: table.cells("text")[9], lambda said: said == HOSTILE[0])
    table.cell(1, "#").click()
    expect(message(page).get_by_text(f"x: '{HOSTILE[1]}' is not integer")).to_be_visible()
    is_harmless(page)


def test_reasons_are_counted_chosen_and_explained(visitor: Visitor) -> None:
    page = visitor.open("/quarantine")
    expect(page.get_by_text("10 messages could not become rows")).to_be_visible()
    reasons = page.get_by_role("group", name="Reasons")
    table = TableReader(page, "quarantine")
    reasons.get_by_role("button", name="Tombstone 1").click()
    table.shows_only("reason", "tombstone")
    table.cell(1, "#").click()
    expect(message(page)).to_contain_text("how Kafka marks a deletion")
    expect(message(page)).to_contain_text("What to do:")
    expect(message(page)).to_contain_text("No text: the message's value is null.")
    page.keyboard.press("Escape")
    reasons.get_by_role("button", name="Tombstone 1").click()
    table.says("rows 1–10 of 10")
    page.get_by_role("group", name="Topics").get_by_role("button", name="accounts 4").click()
    table.shows_only("topic", *["accounts"] * 4)
    table.wait(lambda: words(page), lambda said: "filter" in said)


def test_a_bad_message_is_there_as_soon_as_it_comes(visitor: Visitor) -> None:
    page = visitor.open("/quarantine")
    table = TableReader(page, "quarantine")
    table.says("rows 1–10 of 10")
    visitor.gateway.upsert("quarantine", [bad_message(99, reason="empty value", text="")])
    table.shows("reason", "empty value")
    expect(page.get_by_text("11 messages could not become rows")).to_be_visible()
    table.cell(1, "#").click()
    expect(message(page)).to_contain_text("No text: the message has no bytes.")
