"""A page of another site imports the client from the gateway, if it is allowed to ask it."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visiting
from tests.browser.tables import place_all, user
from tests.support.local_gateway import LocalGateway

PAGE = """<!doctype html>
<title>Another site</title>
<link rel="icon" href="data:,">
<p>nothing yet</p>
<script type="module">
  import { connect } from 'GATEWAY/client.js';
  const client = connect({ url: 'GATEWAY', key: 'KEY' });
  client.subscribe('users_ui', { limit: 3 }).onRows(({ rows }) => {
    document.querySelector('p').textContent = rows.map((row) => row.name).join(', ');
  });
</script>
"""


class Site:
    """A web server at a port of its own, which has one page."""

    def __init__(self) -> None:
        self.page = ""
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(site.page.encode())

            def log_message(self, *_words: object) -> None:
                """Tests have something else to say."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def show(self, gateway: LocalGateway) -> str:
        """Its address, with a page that looks at this gateway."""
        self.page = PAGE.replace("GATEWAY", gateway.address).replace("KEY", gateway.secret)
        return self.address


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_a_page_of_an_allowed_site_is_live(visiting: Visiting, site: Site, tmp_path: Path) -> None:
    with LocalGateway(tmp_path, origins=(site.address,)) as gateway:
        place_all(gateway)
        visitor = visiting(gateway)
        visitor.origins.add(site.address)
        visitor.page.goto(site.show(gateway))
        shown = visitor.page.locator("p")
        expect(shown).to_have_text("Person 0, Person 1, Person 2")
        gateway.upsert("users_ui", [user(1, name="Mei")])
        expect(shown).to_have_text("Person 0, Mei, Person 2")
        visitor.page.goto("about:blank")


def test_a_page_of_any_other_site_does_not_get_the_client(
    site: Site, gateway: LocalGateway, visiting: Visiting
) -> None:
    visitor = visiting(gateway)
    visitor.origins.add(site.address)
    visitor.allow("blocked by CORS policy|ERR_FAILED|403")
    with visitor.page.expect_event("requestfailed") as refused:
        visitor.page.goto(site.show(gateway))
    assert refused.value.url == f"{gateway.address}/client.js"
    expect(visitor.page.locator("p")).to_have_text("nothing yet")
