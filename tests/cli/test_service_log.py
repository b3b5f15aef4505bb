"""Services log lines of text, or JSON objects that tell the way of a row by its ids."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.caller import calling, ids, wait_until
from tests.gateway.conftest import PEOPLE, person
from tests.support.local_gateway import LocalGateway

from evergrid.cli.service_log import say, start_log
from evergrid.config.settings import Log, LogFormat, LogLevel
from evergrid.gateway.access.key_file import create_key
from evergrid.gateway.engine.trace import trace, trace_rows


@pytest.fixture(autouse=True)
def _logger() -> Iterator[None]:
    """The log of this process is as it was, afterwards."""
    logger = logging.getLogger("evergrid.log")
    before = logger.handlers[:], logger.level
    yield
    logger.handlers[:], logger.level = before
    logger.setLevel(before[1])


def test_a_line_of_text_has_the_time_first(capsys: pytest.CaptureFixture[str]) -> None:
    start_log(Log(LogFormat.TEXT, LogLevel.INFO), "gateway")
    say("100 % done.")
    trace("not shown")
    assert re.fullmatch(r"\d\d:\d\d:\d\d 100 % done\.\n", capsys.readouterr().out)


def test_an_entry_of_json_has_time_level_part_and_ids(capsys: pytest.CaptureFixture[str]) -> None:
    start_log(Log(LogFormat.JSON, LogLevel.DEBUG), "gateway")
    say("Serving.\nAt last.")
    trace_rows("applied", lambda: [f"0:{n}" for n in range(1200)], table="users_ui")
    first, *rest = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert first.pop("at").endswith("+00:00")
    assert first == {"level": "info", "part": "gateway", "message": "Serving.\nAt last."}
    assert [len(entry["rows"]) for entry in rest] == [500, 500, 200]
    assert (rest[2]["level"], rest[2]["table"], rest[2]["rows"][-1]) == (
        "debug",
        "users_ui",
        "0:1199",
    )


def test_a_row_is_followed_to_the_session_that_saw_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start_log(Log(LogFormat.JSON, LogLevel.DEBUG), "gateway")
    text = ""

    def entries(message: str) -> list[dict[str, Any]]:
        nonlocal text
        text += capsys.readouterr().out
        found = [json.loads(line) for line in text.splitlines()]
        return [entry for entry in found if entry["message"] == message]

    with LocalGateway(tmp_path) as gateway, calling(gateway) as caller:
        gateway.place(PEOPLE, [person(offset) for offset in range(10)], generation=3)
        caller.log_in()
        caller.open(7, limit=100)
        assert len(ids(caller.watch())) == 10
        gateway.upsert("people", [person(4711, name="a-cell-that-nobody-logs")])
        caller.watch()
        wait_until(lambda: len(entries("sent")) == 2, "the frame")
        (session,) = gateway.call(gateway.running.app.live.sessions)
    (opened,) = entries("window opened")
    assert (opened["session"], opened["sub"], opened["table"]) == (session.id, 7, "people")
    (published,) = [entry for entry in entries("published") if "0:4711" in entry["rows"]]
    assert (published["table"], published["generation"]) == ("people", 3)
    assert published["rows"] == ["0:4711"]
    sent = entries("sent")[1]
    assert (sent["session"], sent["sub"], sent["kind"]) == (session.id, 7, "difference")
    assert (sent["sequence"], sent["generation"]) == (published["sequence"], 3)
    assert "a-cell-that-nobody-logs" not in text
    assert gateway.secret not in text


def test_a_gateway_that_runs_logs_nothing_but_json_on_request(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    create_key(tmp_path / ".evergrid" / "keys.yaml", "anna")
    environ |= {
        "EVERGRID_LOG__FORMAT": "json",
        "EVERGRID_KAFKA__BOOTSTRAP": "127.0.0.1:1",  # nobody answers there, and that is logged
        "EVERGRID_GATEWAY__PORT": "0",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "evergrid", "gateway"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environ,
    ) as process:
        assert process.stdout is not None
        try:
            entries = [json.loads(process.stdout.readline()) for _ in range(2)]
        finally:
            process.terminate()
    assert {(entry["part"], entry["level"]) for entry in entries} == {("gateway", "info")}
    assert any(entry["message"].startswith("Serving at http://127.0.0.1:") for entry in entries)
