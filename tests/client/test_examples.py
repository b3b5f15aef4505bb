"""Every example in the documentation and in examples/ runs as it is, against a gateway."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pyarrow.parquet
import pytest

from evergrid.model.table import Table
from tests.client.people import LIMIT, person
from tests.programs import started
from tests.support.local_gateway import LocalGateway

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "client.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ADDRESS = "http://127.0.0.1:8080"


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_of_the_page(number: int, gateway: LocalGateway) -> None:
    block = BLOCKS[number]
    gateway.upsert("users_ui", [person(30), person(31, name="Ann")])
    assert ADDRESS in block
    secret = gateway.secrets["ops"] if "client.ask" in block else gateway.secret
    program = f"key = {secret!r}\n" + block.replace(ADDRESS, gateway.address)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout


def start(gateway: LocalGateway, name: str, *arguments: str) -> subprocess.Popen[str]:
    path = str(ROOT / "examples" / name)
    return started([path, gateway.address, *arguments], EVERGRID_KEY=gateway.secret)


def read_until(running: subprocess.Popen[str], text: str) -> None:
    assert running.stdout is not None
    for line in running.stdout:
        if text in line:
            return
    raise AssertionError(running.communicate()[1])


def interrupt(running: subprocess.Popen[str]) -> None:
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=LIMIT)
    assert (out[-4:], err, running.returncode) == ("bye\n", "", 0)


def test_saving_a_table(gateway: LocalGateway, tmp_path: Path) -> None:
    path = tmp_path / "users.parquet"
    running = start(gateway, "client_snapshot.py", "users_ui", str(path))
    out, err = running.communicate(timeout=LIMIT)
    assert (out, err) == (f"10 rows of users_ui are in {path}\n", "")
    assert pyarrow.parquet.read_table(path).num_rows == 10


def test_an_example_that_cannot_do_it_says_why(gateway: LocalGateway, tmp_path: Path) -> None:
    running = start(gateway, "client_snapshot.py", "nothing_ui", str(tmp_path / "x"))
    _, err = running.communicate(timeout=LIMIT)
    assert running.returncode == 1
    assert "no such table: nothing_ui" in err
    assert "Traceback" not in err


def test_showing_the_newest_rows(gateway: LocalGateway) -> None:
    running = start(gateway, "client_windows.py", "users_ui")
    read_until(running, "'_id': '0:9'")
    gateway.upsert("users_ui", [person(10, name="Newest")])
    read_until(running, "Newest")
    interrupt(running)


def test_printing_what_happens_to_two_tables(gateway: LocalGateway, users: Table) -> None:
    gateway.place(msgspec.structs.replace(users, name="more_ui"), [person(1)])
    running = start(gateway, "client_changes.py", "users_ui", "more_ui")
    read_until(running, "users_ui added 0:9")
    gateway.delete("users_ui", ["0:9"])
    read_until(running, "users_ui removed 0:9")
    gateway.upsert("more_ui", [person(1, name="Other")])
    read_until(running, "more_ui updated 0:1")
    interrupt(running)
