"""Take the pictures of the web page that the documentation shows, light and dark.

`make screenshots` takes all, `make screenshots ARGS="table status"` those of these names; `swap` is
the animation of the README. They
come from a real Chromium and a real gateway with the demo's rows, at one and the same moment of a
story that never changes: a picture differs from the one before if the page does, and hardly else.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.browser.chromium import chromium, flags, is_root
from tools.animation import Frame, animated
from tools.bank import SECONDS, Bank, open_bank

from evergrid.gateway.http.assets import FOLDER, load
from evergrid.model.errors import EvergridError
from evergrid.protocol.messages import Live

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "images" / "web"
LARGEST_BYTES = 250_000
LARGEST_ANIMATION_BYTES = 1_500_000
FRAMES_BEFORE, FRAME_MILLISECONDS, LAST_MILLISECONDS = 8, 700, 4_000
THEMES = ("light", "dark")
LIGHT = THEMES[:1]
PATIENCE_MILLISECONDS = 60_000.0
# Pixels at rounded edges depend on how a picture is cut into pieces and drawn.
STEADY = ("--disable-partial-raster", "--disable-checker-imaging", "--num-raster-threads=1")
MINUTE = 60
MOMENT_MILLISECONDS = 400.0
ANSWER_MILLISECONDS = 250.0  # of real time, for what the gateway is asked in each second
ROW = "845"
# Waits between attempts to connect are random, and some of them are shown.
CERTAIN = "Math.random = () => 0.5"

Act = Callable[[Page, Bank], None]


class Screen(msgspec.Struct, frozen=True):
    """`touched` ones have no mouse, and scrollbars that take no room."""

    width: int
    height: int
    scale: int = 1
    touched: bool = False


DESK = Screen(1280, 800)
SMALL = Screen(960, 480)  # of a picture that is many
CONTROL = Screen(1280, 1130)
PHONE = Screen(390, 844, scale=2, touched=True)


def settle(page: Page) -> bytes:
    """A picture that is the same a moment later: scrollbars, for one, come after the rows."""
    before, now = b"", page.screenshot(animations="disabled")
    while now != before:
        page.wait_for_timeout(MOMENT_MILLISECONDS)
        before, now = now, page.screenshot(animations="disabled")
    return now


def rows_are_there(page: Page, _bank: Bank) -> None:
    """Every table on the page is live, and has drawn rows."""
    tables = page.locator("eg-live-table")
    expect(tables.first).to_be_visible()
    for table in tables.all():
        expect(table.locator(".ag-row .ag-cell").first).not_to_be_empty()
        expect(table.locator("[data-state]")).to_have_attribute("data-state", "live")


def asked_for_a_key(page: Page, _bank: Bank) -> None:
    expect(page.get_by_label("Key", exact=True)).to_be_focused()


def refused(page: Page, bank: Bank) -> None:
    asked_for_a_key(page, bank)
    page.get_by_label("Key", exact=True).fill("eg_an-old-key")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("does not know this key")


def cells_changed(page: Page, bank: Bank) -> None:
    """Some cells are still marked, because they have just changed."""
    rows_are_there(page, bank)
    settle(page)
    bank.book()
    expect(page.locator(".eg-flash").first).to_be_visible()


def details_are_open(page: Page, bank: Bank) -> None:
    rows_are_there(page, bank)
    page.locator(".ag-row .eg-row-number").get_by_text(ROW, exact=True).click()
    expect(page.get_by_role("heading", name="Made from")).to_be_visible()
    expect(page.get_by_text("See it in").nth(1)).to_be_visible()


def filter_is_open(page: Page, bank: Bank) -> None:
    rows_are_there(page, bank)
    page.get_by_role("button", name="Filter", exact=True).click()
    form = page.get_by_role("dialog")
    form.get_by_role("combobox").nth(0).select_option("balance")
    form.get_by_role("combobox").nth(1).select_option("between")
    for label, amount in (("From", "1000"), ("To", "5000")):
        form.get_by_label(label, exact=True).fill(amount)


def columns_are_open(page: Page, bank: Bank) -> None:
    rows_are_there(page, bank)
    page.get_by_role("button", name="Columns", exact=True).click()
    expect(page.get_by_label("Find a column")).to_be_visible()


def message_is_open(page: Page, bank: Bank) -> None:
    rows_are_there(page, bank)
    page.locator(".ag-row .eg-row-number").get_by_text("3", exact=True).click()
    expect(page.get_by_role("heading", name="Raw text")).to_be_visible()


def minute_passed(page: Page, bank: Bank) -> None:
    """The charts are full, and somebody else looks at the dashboard all the time."""
    while not page.get_by_role("heading", name="quarantine").is_visible():
        page.clock.run_for(20)
    assert page.context.browser is not None
    other = page.context.browser.new_page()
    other.goto(f"{bank.gateway.address}/#key={bank.key}")
    rows_are_there(other, bank)
    for _ in range(MINUTE - 5):
        bank.pass_second()
        page.clock.run_for(1000)
        page.wait_for_timeout(ANSWER_MILLISECONDS)
    other.close()


def tables_are_seen(page: Page, bank: Bank) -> None:
    """As `minute_passed`, with the figures of the tables in view."""
    minute_passed(page, bank)
    page.get_by_role("region", name="users_ui").evaluate(
        "(card) => card.closest('main').scrollBy(0, card.getBoundingClientRect().top - 60)"
    )


def chosen(page: Page, _bank: Bank) -> None:
    """Somebody is about to change the pipeline."""
    page.get_by_label("Topic of users").select_option("users_v2")
    page.get_by_role("radio", name="as-of").check()
    expect(page.get_by_role("button", name="Switch to users_v2, as-of join")).to_be_enabled()
    expect(page.get_by_text("kept until")).to_be_visible()
    page.mouse.move(0, 0)


def prepared(page: Page, bank: Bank) -> None:
    """Somebody has, and it is on its way."""
    chosen(page, bank)
    page.get_by_role("button", name="Switch to users_v2, as-of join").click()
    expect(page.get_by_text("Sent. The pipeline")).to_be_visible()
    bank.prepare(len(bank.gateway.handed_over) - 1)
    expect(page.get_by_role("progressbar", name="Preparation of generation 4")).to_be_visible()
    expect(page.get_by_role("progressbar", name="Preparation", exact=True)).to_be_visible()
    page.mouse.move(0, 0)


def control_is_seen(page: Page, bank: Bank) -> None:
    """As `chosen`, with the form in view."""
    chosen(page, bank)
    page.get_by_role("region", name="Change the pipeline").evaluate(
        "(card) => card.closest('main').scrollBy(0, card.getBoundingClientRect().top - 60)"
    )


def columns_went(page: Page, bank: Bank) -> None:
    rows_are_there(page, bank)
    bank.lose_email()
    expect(page.get_by_text("This table has no column email now.")).to_be_visible()
    rows_are_there(page, bank)


def stale(page: Page, bank: Bank) -> None:
    rows_are_there(page, bank)
    since = (bank.now - 42) * 1_000_000
    sentence = "The pipeline does not run. Going on when it is back."
    bank.gateway.say("final_ui", Live.STALE, sentence, since)
    expect(page.locator("[data-state=stale]")).to_be_visible()


def cut_off(page: Page, bank: Bank) -> None:
    rows_are_there(page, bank)
    bank.gateway.stop()
    expect(page.locator("[data-state=reconnecting]").first).to_be_visible()
    page.clock.set_fixed_time(bank.now + 12)
    expect(page.get_by_text("12 s old")).to_be_visible()
    expect(page.get_by_text("Next attempt in 8 s")).to_be_visible()  # waits grow, up to that


def unfolded(page: Page, bank: Bank) -> None:
    rows_are_there(page, bank)
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()


def waiting(page: Page, _bank: Bank) -> None:
    expect(page.locator("[data-state=waiting]")).to_be_visible()


class Shot(msgspec.Struct, frozen=True):
    """A picture: where to go, on what screen, and what must be so before it is taken."""

    path: str
    act: Act = rows_are_there
    screen: Screen = DESK
    logged_in: bool = True
    paused: bool = False  # whether the page's timers wait for the act to let time pass
    fleeting: bool = False  # whether it must be taken at once
    themes: Sequence[str] = THEMES


def _filter(*conditions: dict[str, object]) -> str:
    return f"filter={quote(json.dumps(conditions))}"


RICH = _filter(
    {"column": "accountType", "op": "equals", "value": "savings"},
    {"column": "age", "op": "between", "value": [30, 59]},
)
WITH_EMAIL = _filter(
    {"column": "accountType", "op": "equals", "value": "savings"},
    {"column": "email", "op": "contains", "value": "example.com"},
)
SHOTS = {
    "login": Shot("/", asked_for_a_key, logged_in=False),
    "refused": Shot("/", refused, logged_in=False, themes=LIGHT),
    "dashboard": Shot("/", cells_changed, fleeting=True),
    "table": Shot(f"/tables/final_ui?order=-balance&{RICH}"),
    "pages": Shot("/tables/accounts_ui?page=300&row=3001", themes=LIGHT),
    "filter": Shot("/tables/final_ui?order=name,-balance", filter_is_open, themes=LIGHT),
    "columns": Shot("/tables/final_ui", columns_are_open, themes=LIGHT),
    "details": Shot("/tables/final_ui?row=840", details_are_open),
    "quarantine": Shot("/quarantine", message_is_open),
    "status": Shot("/status", tables_are_seen, paused=True),
    "control": Shot("/status", prepared, CONTROL),
    "dropped-filter": Shot(
        f"/tables/final_ui?order=-balance&{WITH_EMAIL}", columns_went, themes=LIGHT
    ),
    "stale": Shot("/tables/final_ui?follow=1", stale),
    "offline": Shot("/", cut_off),
    "no-table": Shot("/tables/orders_ui", waiting, themes=LIGHT),
    "phone-dashboard": Shot("/", screen=PHONE),
    "phone-table": Shot("/tables/final_ui?follow=1", screen=PHONE),
    "phone-details": Shot("/tables/final_ui?row=840", details_are_open, PHONE),
    "phone-menu": Shot("/tables/final_ui", unfolded, PHONE, themes=LIGHT),
    "phone-status": Shot("/status", tables_are_seen, PHONE, paused=True, themes=LIGHT),
    "phone-control": Shot("/status", control_is_seen, PHONE, themes=LIGHT),
}


SWAP = "swap"


def swap(page: Page, bank: Bank) -> list[Frame]:
    """Rows come, then the table is one of another pipeline, in the same window."""
    rows_are_there(page, bank)
    settle(page)
    frames = []
    for _ in range(FRAMES_BEFORE):
        bank.pass_second()
        page.clock.set_fixed_time(bank.now)
        page.wait_for_timeout(MOMENT_MILLISECONDS)
        frames.append(Frame(page.screenshot(), FRAME_MILLISECONDS))
    bank.lose_email()
    expect(page.get_by_role("columnheader", name="country")).to_be_visible()
    rows_are_there(page, bank)
    return [*frames, Frame(settle(page), LAST_MILLISECONDS)]


def main() -> int:
    known = [*SHOTS, SWAP]
    parser = argparse.ArgumentParser(description="Take the pictures of the web page.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; all")
    names = parser.parse_args().names or known
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no picture is called {', '.join(unknown)}")
    if not load(FOLDER).page:
        sys.exit("There is no page to take pictures of. Build it: make web")
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium(),
            args=[*flags(), *STEADY],
            chromium_sandbox=not is_root(),
            ignore_default_args=["--hide-scrollbars"],  # people see them
        )
        for name in names:
            for theme in SHOTS[name].themes if name in SHOTS else LIGHT:
                take = _take if name in SHOTS else _film
                print(take(browser, name, theme), flush=True)
        browser.close()
    return 0


def _take(browser: Browser, name: str, theme: str) -> str:
    shot = SHOTS[name]
    second = SECONDS - MINUTE if shot.paused else SECONDS - 1
    with _opened(browser, shot, theme, second) as (page, bank):
        shot.act(page, bank)
        picture = page.screenshot() if shot.fleeting else settle(page)
    return _kept(f"{name}-{theme}.png", picture, LARGEST_BYTES)


def _film(browser: Browser, name: str, theme: str) -> str:
    shot = Shot("/tables/final_ui?follow=1", screen=SMALL)
    with _opened(browser, shot, theme, SECONDS - FRAMES_BEFORE - 1) as (page, bank):
        frames = swap(page, bank)
    return _kept(f"{name}.png", animated(frames), LARGEST_ANIMATION_BYTES)


@contextmanager
def _opened(browser: Browser, shot: Shot, theme: str, second: int) -> Iterator[tuple[Page, Bank]]:
    """The page as it is for this picture, at this second of the story."""
    context = browser.new_context(
        viewport={"width": shot.screen.width, "height": shot.screen.height},
        device_scale_factor=shot.screen.scale,
        is_mobile=shot.screen.touched,
        has_touch=shot.screen.touched,
        color_scheme="dark" if theme == "dark" else "light",
        locale="en-US",
        timezone_id="UTC",
    )
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    context.add_init_script(CERTAIN)
    with tempfile.TemporaryDirectory() as folder, open_bank(Path(folder), second) as bank:
        page = context.new_page()
        if shot.paused:
            page.clock.install(time=bank.now)
            page.clock.pause_at(bank.now + 1)
        else:
            page.clock.set_fixed_time(bank.now)
        key = f"#key={bank.key}" if shot.logged_in else ""
        page.goto(f"{bank.gateway.address}{shot.path}{key}")
        yield page, bank
        context.close()


def _kept(name: str, picture: bytes, largest: int) -> str:
    if len(picture) > largest:
        sys.exit(f"{name} has {len(picture):,} bytes; {largest:,} are enough for anyone")
    file = PICTURES / name
    file.write_bytes(picture)
    return f"{file.relative_to(ROOT)}: {len(picture) // 1000} KB"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EvergridError as error:
        sys.exit(error.sentence())
