"""Somebody else's Angular app, on another origin, with the packed npm libraries and no more."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visiting
from tests.browser.reader import TableReader
from tests.browser.tables import final, place_all, user
from tests.support.local_gateway import LocalGateway

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
HOME = WEB / "build" / "example"  # below the workspace: Angular and AG Grid are found there
HEADINGS = {
    "users_ui": "Users",
    "accounts_ui": "Accounts",
    "final_ui": "Users with their accounts",
}


def run(folder: Path, *command: str | Path) -> str:
    """What a command says, with our Node before any other."""
    paths = (Path(sys.executable).parent, WEB / "node_modules" / ".bin", os.environ["PATH"])
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": os.pathsep.join(map(str, paths)), "CI": "1", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def unpack(name: str) -> None:
    """Pack a library as it would be published, and install it as npm would."""
    said = run(HOME, "npm", "pack", "--silent", "--ignore-scripts", WEB / "build" / name)
    target = HOME / "node_modules" / "@evergrid" / name
    with tarfile.open(HOME / said.split()[-1]) as packed:
        packed.extractall(HOME / "unpacked", filter="data")
    target.parent.mkdir(parents=True, exist_ok=True)
    (HOME / "unpacked" / "package").rename(target)


@pytest.fixture(scope="module")
def built() -> Path:
    """The app's files, built with the packed libraries."""
    run(ROOT, sys.executable, ROOT / "tools" / "web.py", "--run", "build:angular")
    shutil.rmtree(HOME, ignore_errors=True)
    shutil.copytree(
        WEB / "example", HOME, ignore=shutil.ignore_patterns("node_modules", "dist", "*.tgz")
    )
    for name in ("client", "angular"):
        unpack(name)
    run(HOME, "ng", "build", "example")
    return HOME / "dist"


class Handler(http.server.SimpleHTTPRequestHandler):
    """Says nothing: tests have something else to say."""

    def log_message(self, *_words: object) -> None:
        pass


@pytest.fixture
def site(built: Path) -> Iterator[str]:
    """Where somebody else serves the app."""
    handler = functools.partial(Handler, directory=str(built))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def gateway(tmp_path: Path, site: str) -> Iterator[LocalGateway]:
    with LocalGateway(tmp_path, origins=(site,)) as running:
        place_all(running)
        yield running


def address(site: str, gateway: LocalGateway) -> str:
    return f"{site}/#{urlencode({'url': gateway.address, 'key': gateway.secret})}"


def test_three_live_tables_and_a_number_over_one_connection(
    site: str, gateway: LocalGateway, visiting: Visiting
) -> None:
    visitor = visiting(gateway)
    visitor.origins.add(site)
    page = visitor.page
    page.goto(address(site, gateway))
    users, accounts, joined = (TableReader(page, heading) for heading in HEADINGS.values())
    for table in (users, accounts, joined):
        table.is_live()
    users.shows("name", "Person 0", "Person 1")
    accounts.shows("balance", "0.50", "10.50")
    joined.shows("balance", "0.50", "10.50")
    so_far = page.get_by_text("Joined so far:")
    expect(so_far).to_have_text("Joined so far: 50")
    gateway.upsert("users_ui", [user(1, name="Mei")])
    gateway.upsert("final_ui", [final(50), final(51)])
    users.shows("name", "Person 0", "Mei")
    expect(so_far).to_have_text("Joined so far: 52")
    joined.sort("balance")
    joined.sort("balance")
    joined.shows("balance", "510.50", "500.50")
    joined.filter("accountType", "is", "savings")
    joined.shows("balance", "510.50", "490.50")
    assert len(visitor.sockets) == 1


def test_a_form_asks_where_the_gateway_is(
    site: str, gateway: LocalGateway, visiting: Visiting
) -> None:
    visitor = visiting(gateway)
    visitor.origins.add(site)
    page = visitor.page
    page.goto(site)
    page.get_by_label("Gateway").fill(gateway.address)
    page.get_by_label("Key").fill(gateway.secret)
    page.get_by_role("button", name="Show the tables").click()
    TableReader(page, "Users").shows("name", "Person 0")


def test_a_site_that_is_not_allowed_is_told_what_to_do(
    site: str, tmp_path: Path, visiting: Visiting
) -> None:
    (tmp_path / "strict").mkdir()
    with LocalGateway(tmp_path / "strict") as strict:
        place_all(strict)
        visitor = visiting(strict)
        visitor.origins.add(site)
        visitor.allow("WebSocket connection to .* failed: .*(403|ERR_CONNECTION_REFUSED)")
        visitor.page.goto(address(site, strict))
        table = TableReader(visitor.page, "Users")
        expect(table.status).to_have_text("Connecting")
        expect(table.region.get_by_text("gateway.origins")).to_be_visible()
        expect(table.region.get_by_text(site)).to_be_visible()
        visitor.page.goto("about:blank")
