"""Somebody who looks at a gateway's page, and notices whatever they should never see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    WebError,
    WebSocket,
    expect,
    sync_playwright,
)

from evergrid.gateway.http.assets import FOLDER, load
from tests.browser.chromium import chromium, flags, is_root
from tests.support.local_gateway import LocalGateway

PATIENCE_MILLISECONDS = 60_000.0
# What Chromium itself logs while nobody answers at an address; a page cannot keep it from that.
AWAY = (
    r"^console: (Failed to load resource: |WebSocket connection to 'ws://[^']+' failed: "
    r"(Error in connection establishment: |Error during WebSocket handshake: )?)"
    r"net::ERR_(CONNECTION_(REFUSED|RESET|CLOSED)|SOCKET_NOT_CONNECTED|EMPTY_RESPONSE"
    r"|CONTENT_LENGTH_MISMATCH|INCOMPLETE_CHUNKED_ENCODING)"
)
_INSIDE = frozenset(("about", "blob", "data"))  # never leave the browser


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A real Chromium, if there is a page for it to show."""
    assert load(FOLDER).page, "There is no page to test. Build it: make web"
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium(), args=flags(), chromium_sandbox=not is_root()
        )
        yield browser
        browser.close()


class Guest:
    """A browser's tab of its own: nothing is shared with others, nothing is remembered.

    `problems` are errors in the console, uncaught ones, and requests to another origin than the
    gateway's and those in `origins`; a test with any of them fails, unless it has foreseen them
    by `allow`.
    """

    def __init__(self, browser: Browser, address: str, secret: str, **options: object) -> None:
        self.address = address
        self.secret = secret
        self.origins = {_origin(address)}
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.sockets: list[WebSocket] = []
        self._allowed: list[re.Pattern[str]] = []
        self.context: BrowserContext = browser.new_context(**options)  # type: ignore[arg-type]
        self.context.set_default_timeout(PATIENCE_MILLISECONDS)
        self.context.on("console", self._heard)
        self.context.on("weberror", self._fell)
        self.context.on("request", self._asked)
        self.page: Page = self.new_page()

    def new_page(self) -> Page:
        """Another tab of the same browser."""
        page = self.context.new_page()
        page.on("websocket", self._connected)
        return page

    def open(self, path: str = "/", key: str | None = None) -> Page:
        """Go to a view with a key in the fragment, as the demo prints it; "" is none."""
        secret = self.secret if key is None else key
        fragment = f"#key={secret}" if secret else ""
        self.page.goto(f"{self.address}{path}{fragment}")
        return self.page

    def allow(self, pattern: str) -> None:
        """Problems that fit are foreseen: browsers log by themselves that a server is away."""
        self._allowed.append(re.compile(pattern))

    def unforeseen(self) -> list[str]:
        return [
            problem
            for problem in self.problems
            if not any(pattern.search(problem) for pattern in self._allowed)
        ]

    def close(self) -> None:
        self.context.close()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            self.problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _fell(self, error: WebError) -> None:
        self.problems.append(f"uncaught: {error.error}")

    def _asked(self, request: Request) -> None:
        self._sent(request.url)

    def _connected(self, socket: WebSocket) -> None:
        self.sockets.append(socket)
        self._sent(socket.url)

    def _sent(self, url: str) -> None:
        self.requests.append(url)
        if urlsplit(url).scheme not in _INSIDE and _origin(url) not in self.origins:
            self.problems.append(f"a request left for another origin: {url}")


class Visitor(Guest):
    """One at a gateway that the test can write to; at another `address` where there is a way."""

    def __init__(
        self, browser: Browser, gateway: LocalGateway, address: str = "", **options: object
    ) -> None:
        self.gateway = gateway
        super().__init__(browser, address or gateway.address, gateway.secret, **options)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme.replace('ws', 'http')}://{parts.netloc}"
