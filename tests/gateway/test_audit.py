"""What people did at a gateway is in its audit log, and nothing that they said."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from evergrid.config.settings import Audit
from evergrid.gateway.access.access_key import new_secret
from evergrid.gateway.access.key_file import rotate_key
from tests.gateway.caller import calling, wait_until
from tests.gateway.conftest import PEOPLE, person
from tests.gateway.http.controlling import MESSAGE, post, served
from tests.support.local_gateway import LIMITS, LocalGateway
from tests.system.canary import Canary

HERE = "127.0.0.1"


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[LocalGateway]:
    running = served(tmp_path)
    running.new_key("some", ["accounts"])
    running.new_key("root", admin=True)
    with running:
        running.place(PEOPLE, [person(offset) for offset in range(10)])
        yield running


def entries(gateway: LocalGateway) -> list[dict[str, Any]]:
    """The entries without times and instances."""
    file = gateway.settings.audit.file
    lines = file.read_text().splitlines() if file.exists() else []
    found = [json.loads(line) for line in lines]
    assert all(entry.pop("at") for entry in found)
    assert {entry.pop("gateway") for entry in found} <= {gateway.engine.instance}
    return found


def written(gateway: LocalGateway, event: str, count: int = 1) -> list[dict[str, Any]]:
    """The entries of this event; there must be so many, or there will be."""

    def found() -> list[dict[str, Any]]:
        return [entry for entry in entries(gateway) if entry["event"] == event]

    wait_until(lambda: len(found()) >= count, f"{count} entries of {event}")
    return [{**entry, "event": ""} for entry in found()]


def bearer(gateway: LocalGateway, name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {gateway.secrets[name]}"}


def test_logins_have_key_address_and_session(gateway: LocalGateway) -> None:
    with calling(gateway) as page:
        page.log_in(gateway.secrets["wall"])
        with calling(gateway) as script:
            script.ask("/api/tables", bearer(gateway, "some"))
        first, second = written(gateway, "login", 2)
    session = first.pop("session")
    assert session.startswith(gateway.engine.instance[:8])
    assert first == {"event": "", "key": "wall", "address": HERE}
    assert second == {"event": "", "key": "some", "address": HERE}


def test_refusals_have_their_reason_and_the_key_if_it_is_known(gateway: LocalGateway) -> None:
    for headers in ({"Authorization": f"Bearer {new_secret()}"}, {"Host": "elsewhere"}):
        with calling(gateway) as caller:
            caller.ask("/api/tables", headers)
    with calling(gateway) as caller:
        caller.ask("/api/tables/people", bearer(gateway, "some"))
    with calling(gateway) as caller:
        caller.log_in(new_secret())
    with calling(gateway) as caller:
        caller.log_in(gateway.secrets["some"])
        caller.open(1, "people")
        assert caller.hear()["code"] == "no_rights"
        found = written(gateway, "refused", 3)
    assert [(entry.get("key"), entry["reason"], entry["address"]) for entry in found] == [
        (None, "bad_key", HERE),
        (None, "host_refused", HERE),
        ("some", "no_rights", HERE),
    ]
    gateway.stop()  # those that were the same are put together
    more = [entry for entry in entries(gateway) if entry["event"] == "refused"][3:]
    assert [(entry.get("key"), entry["reason"]) for entry in more] == [
        (None, "bad_key"),
        ("some", "no_rights"),
    ]


def test_control_messages_have_what_they_ask_for(gateway: LocalGateway) -> None:
    assert post(gateway, MESSAGE).status == 202
    assert post(gateway, b'{"usersTopic": "salaries"}').code == "bad_control"
    sent, refused = written(gateway, "control", 2)
    assert sent == {
        "event": "",
        "key": "ops",
        "address": HERE,
        "request": {"topics": {"users": "users_v2"}, "types": {"final": "asof"}},
        "message": "0:0",
    }
    assert refused == {"event": "", "key": "ops", "address": HERE, "reason": "bad_control"}


def test_exports_have_table_rows_and_format(gateway: LocalGateway) -> None:
    for target in ("rows?limit=3&format=csv", "rows?limit=all"):
        with calling(gateway) as caller:
            assert caller.ask(f"/api/tables/people/{target}", bearer(gateway, "wall")).status == 200
    small, large = written(gateway, "export", 2)
    who = {"event": "", "key": "wall", "address": HERE, "table": "people"}
    assert small == {**who, "format": "csv", "rows": 3}
    assert large == {**who, "format": "json", "rows": 10}


def test_an_export_that_breaks_off_is_told_as_such(gateway: LocalGateway) -> None:
    big = msgspec.structs.replace(PEOPLE, name="big")
    gateway.place(big, [person(offset, name="x" * 1000) for offset in range(20_000)])
    with calling(gateway, receive_buffer=4096) as caller:
        head = f"Host: {caller.host()}\r\nAuthorization: {caller.bearer()}"
        caller.send(f"GET /api/tables/big/rows?limit=all HTTP/1.1\r\n{head}\r\n\r\n".encode())
        caller.socket.recv(15)
    (entry,) = written(gateway, "export")
    assert (entry["table"], entry["complete"]) == ("big", False)
    assert entry.get("rows", 0) < 20_000


def test_changes_of_the_key_file_are_told_although_nobody_uses_a_key(
    gateway: LocalGateway,
) -> None:
    gateway.new_key("late")
    assert written(gateway, "key_added") == [{"event": "", "key": "late"}]
    rotate_key(gateway.settings.keys, "late", datetime.timedelta(seconds=1))
    assert written(gateway, "key_rotated") == [{"event": "", "key": "late"}]
    ended = {"event": "", "key": "late", "reason": "previous secret"}
    assert written(gateway, "key_expired") == [ended]
    gateway.remove_key("late")
    assert written(gateway, "key_removed") == [{"event": "", "key": "late"}]


def test_no_secret_and_no_value_reaches_the_audit_log_or_any_other_output(
    gateway: LocalGateway, tmp_path: Path
) -> None:
    roads = {
        "header": new_secret(),
        "first message": new_secret(),
        "handshake": new_secret(),
        "address": new_secret(),
        "host": "host-6cd1f09ab3",
        "filter": "filter-value-5b2e71",
        "search": "search-word-77ab10",
        "window filter": "window-value-90d3c4",
        "control": new_secret(),
        "path": "path-part-13ffd2",
        "cell": "cell-value-d41f88",
        **{f"key {name}": secret for name, secret in gateway.secrets.items()},
    }
    gateway.upsert("people", [person(1, name=roads["cell"])])
    filter_ = json.dumps({"column": "name", "op": "equals", "value": roads["filter"]})
    targets: dict[str, dict[str, str]] = {
        "/api/tables": {"Authorization": f"Bearer {roads['header']}"},
        f"/api/tables?key={roads['address']}": {},
        f"/api/tables/people/rows?filter={quote(filter_)}": {},
        f"/api/tables/people/rows?search={roads['search']}&limit=all&format=csv": {},
        f"/api/tables/{roads['path']}": {},
        "/api/pipeline": {"Host": roads["host"]},
        "/api/tables/people/rows": bearer(gateway, "wall"),
        "/api/sessions": bearer(gateway, "root"),
    }
    for target, headers in targets.items():
        with calling(gateway) as caller:
            caller.ask(target, headers)
    with calling(gateway) as caller:
        caller.shake_hands({"Authorization": f"Bearer {roads['handshake']}"})
    with calling(gateway) as caller:
        caller.log_in(roads["first message"])
    with calling(gateway) as caller:
        caller.log_in()
        value = roads["window filter"]
        caller.open(1, filter={"column": "name", "op": "equals", "value": value})
        caller.watch()
        caller.open(2, filter={"column": "age", "op": "equals", "value": value})
        caller.hear()
    post(gateway, json.dumps({"usersTopic": roads["control"]}).encode())
    post(gateway, MESSAGE)
    gateway.stop()
    assert {entry["event"] for entry in entries(gateway)} >= {
        "login",
        "refused",
        "export",
        "control",
    }
    canary = Canary(roads)
    canary.search_files(tmp_path)
    canary.search("log", "\n".join(gateway.said).encode())
    assert canary.places >= 3
    assert canary.found == []


def test_a_metric_counts_what_the_audit_log_lacks(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    audit = Audit(tmp_path / "file" / "audit.jsonl", 2**20, 3)
    with LocalGateway(tmp_path, LIMITS, audit=audit) as gateway:

        def count() -> bytes:
            with calling(gateway) as caller:
                return caller.ask("/metrics").body

        wait_until(lambda: b'evergrid_audit_lost_total{reason="not_written"}' in count(), "it")
        assert any("audit log" in line for line in gateway.said)
