"""Administrators see who is connected, and end sessions; nobody else does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evergrid
from evergrid.client import Denied, Rejected
from evergrid.protocol.error_codes import Code
from tests.gateway.caller import Answer, calling, wait_until
from tests.gateway.conftest import PEOPLE, person
from tests.support.local_gateway import LocalGateway

PATH = "/api/sessions"


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[LocalGateway]:
    running = LocalGateway(tmp_path)
    running.new_key("root", admin=True)
    running.new_key("wall")
    with running:
        running.place(PEOPLE, [person(offset) for offset in range(10)])
        yield running


def ask(gateway: LocalGateway, path: str, key: str = "root", method: str = "GET") -> Answer:
    with calling(gateway) as caller:
        return caller.ask(path, {"Authorization": f"Bearer {gateway.secrets[key]}"}, method)


def sessions(gateway: LocalGateway) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ask(gateway, PATH).body)["sessions"]
    return found


def test_open_sessions_are_listed_and_one_of_them_is_ended(gateway: LocalGateway) -> None:
    with calling(gateway) as first, calling(gateway) as second:
        first.log_in(gateway.secrets["wall"])
        first.open(1)
        first.watch()
        second.shake_hands()
        one, other = sessions(gateway)
        assert (one["key"], one["address"], one["windows"]) == ("wall", "127.0.0.1", 1)
        assert (other["key"], other["windows"]) == ("", 0)
        assert one["id"] != other["id"]
        assert json.loads(ask(gateway, f"{PATH}/{one['id']}").body) == one
        ended = ask(gateway, f"{PATH}/{one['id']}", method="DELETE")
        assert (ended.status, json.loads(ended.body)) == (200, one)
        assert first.ending() == ("session_ended", Code.SESSION_ENDED.close)
        wait_until(lambda: [s["id"] for s in sessions(gateway)] == [other["id"]], "its end")
        again = ask(gateway, f"{PATH}/{one['id']}", method="DELETE")
        assert (again.status, again.code) == (404, "not_found")


def test_only_administrators_may(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        caller.log_in()
        (session,) = sessions(gateway)
        for path, method in (
            (PATH, "GET"),
            (f"{PATH}/{session['id']}", "GET"),
            (f"{PATH}/{session['id']}", "DELETE"),
        ):
            answer = ask(gateway, path, "wall", method)
            assert (answer.status, answer.code) == (403, "no_rights")
            assert b"127.0.0.1" not in answer.body
        assert len(sessions(gateway)) == 1


def test_an_ended_client_comes_back_and_one_whose_key_is_removed_does_not(
    gateway: LocalGateway,
) -> None:
    with (
        evergrid.connect(gateway.address, gateway.secrets["root"]) as admin,
        evergrid.connect(gateway.address, gateway.secrets["wall"]) as client,
        client.windows("people", limit=3) as windows,
    ):
        windows.next(timeout=60)
        (before,) = admin.sessions()
        assert admin.end_session(before.id) == before
        wait_until(lambda: [one.id for one in admin.sessions()] not in ([], [before.id]), "it")
        (after,) = admin.sessions()
        assert (after.key, after.id != before.id) == ("wall", True)
        wait_until(lambda: windows.newest.live, "its window")
        gateway.remove_key("wall")
        with pytest.raises(Denied):
            list(windows)
        assert admin.sessions() == []
        with pytest.raises(Rejected, match="no such session"):
            admin.end_session(after.id)
