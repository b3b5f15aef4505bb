"""A browser's page, and the moment at which each row was on its screen."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bench.watch import Watched, stamp_of
from evergrid.model.errors import LinkError

if TYPE_CHECKING:
    from playwright.sync_api import Page

_SCRIPT = Path(__file__).with_name("witness.js")
_COLUMN = "accountType"
_LOOK_MILLISECONDS = 500.0
_QUIET_SECONDS = 10.0  # nothing pauses for so long in the middle of the stream


class Witness(msgspec.Struct, frozen=True, tag=True):
    """Follow a table's newest rows on a page until no more come.

    Only messages sent since `since_us` count.
    """

    address: str
    key: str
    table: str
    since_us: int
    seconds: float


class Sight(msgspec.Struct, frozen=True, array_like=True):
    """What had come into sight, and the millisecond at which it was painted for sure."""

    painted_ms: int
    texts: list[str]


def run(task: Witness) -> Watched:
    # The driver takes a moment to import, which the other helpers need not wait for.
    from bench.browser import Inspector, open_browser

    with open_browser() as browser:
        inspector = Inspector(browser)
        path = f"/tables/{task.table}?follow=1"
        inspector.page.add_init_script(path=_SCRIPT)
        inspector.show(task.address, task.key, path)
        watched = watched_of(_follow(task, inspector.page), task.since_us)
    if not watched.age_us:
        raise LinkError("not one row came into sight", where=f"table {task.table}")
    return watched


def _follow(task: Witness, page: Page) -> list[Sight]:
    sights: list[Sight] = []
    deadline = time.monotonic() + task.seconds
    quiet_since = time.monotonic()
    while time.monotonic() < deadline:
        page.wait_for_timeout(_LOOK_MILLISECONDS)
        news = msgspec.convert(page.evaluate("(column) => witness(column)", _COLUMN), list[Sight])
        sights += news
        if news:
            quiet_since = time.monotonic()
        elif watched_of(sights, task.since_us).age_us and _is_quiet(quiet_since):
            break
    return sights


def _is_quiet(since: float) -> bool:
    return time.monotonic() - since > _QUIET_SECONDS


def watched_of(sights: list[Sight], since_us: int) -> Watched:
    """Each row's first sight; rows of the past carry no stamp."""
    watched = Watched([], [], 0)
    for sight in sights:
        painted_us = sight.painted_ms * 1000
        for stamp in map(stamp_of, sight.texts):
            if stamp >= since_us:
                watched.arrived_us.append(painted_us)
                watched.age_us.append(painted_us - stamp)
    return msgspec.structs.replace(watched, accounts=len(watched.age_us))
