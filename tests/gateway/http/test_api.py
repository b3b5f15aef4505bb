from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from urllib.parse import quote
from urllib.request import Request, urlopen

import msgspec
import pyarrow as pa
import pytest

from evergrid.changelog.manifest import Gap
from evergrid.protocol.messages import Live
from tests.gateway.caller import Answer, Caller, calling, wait_until
from tests.gateway.conftest import PEOPLE, person
from tests.support.local_gateway import LIMITS, LocalGateway

OTHER_PAGE = "https://boards.example"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalGateway]:
    folder = tmp_path_factory.mktemp("api")
    limits = msgspec.structs.replace(LIMITS, window_rows=100, exports=3, exports_per_key=2)
    with LocalGateway(folder, limits, origins=(OTHER_PAGE,)) as running:
        people = [person(0, name=None, age=2**63 - 1), person(1, name='=1,"x"\n')]
        running.place(PEOPLE, people + [person(offset) for offset in range(2, 20)])
        yield running


def ask(gateway: LocalGateway, target: str, method: str = "GET", **headers: str) -> Answer:
    with calling(gateway) as caller:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return caller.ask(target, named, method)


def read(gateway: LocalGateway, target: str, accept: str = "*/*") -> bytes:
    """A whole body, through a client that knows about chunks."""
    headers = {"Authorization": f"Bearer {gateway.secret}", "Accept": accept}
    with urlopen(Request(gateway.address + target, headers=headers), timeout=20) as answer:
        body: bytes = answer.read()
        return body


def names(body: bytes) -> list[str]:
    return [row["name"] for row in json.loads(body)["rows"]]


def test_tables_are_listed_with_what_one_wants_to_know(gateway: LocalGateway) -> None:
    (table,) = json.loads(ask(gateway, "/api/tables").body)["tables"]
    assert (table["name"], table["rows"], table["state"]) == ("people", 20, "live")
    assert table["columns"][3] == {
        "name": "balance",
        "type": {"kind": "decimal", "precision": 38, "scale": 10},
        "role": "data",
    }
    assert json.loads(ask(gateway, "/api/tables/people").body) == table


def test_gaps_are_told_to_those_who_may_read_the_table(gateway: LocalGateway) -> None:
    other = gateway.new_key("other", ["other_*"])
    gateway.call(lambda: gateway.engine.gaps.update(people=(Gap("history", 3, ("u1",), 5),)))
    told = {"reason": "history", "messages": 3, "keys": ["u1"], "since": 5}
    metric = b'evergrid_join_gaps_messages{table="people",reason="history"} 3'
    try:
        (table,) = json.loads(ask(gateway, "/api/tables").body)["tables"]
        assert table["gaps"] == [told]
        assert metric in ask(gateway, "/metrics").body
        bearer = f"Bearer {other}"
        wait_until(
            lambda: ask(gateway, "/api/tables", Authorization=bearer).status == 200, "the key"
        )
        for path in ("/api/tables", "/api/tables/people", "/metrics", "/api/pipeline"):
            body = ask(gateway, path, Authorization=bearer).body
            assert b"u1" not in body
            assert b'"history"' not in body
    finally:
        gateway.call(gateway.engine.gaps.clear)
    (table,) = json.loads(ask(gateway, "/api/tables").body)["tables"]
    assert table["gaps"] == []


def test_the_description_has_every_field_of_a_table(gateway: LocalGateway) -> None:
    described = json.loads(ask(gateway, "/openapi.json", Authorization="").body)
    (table,) = json.loads(ask(gateway, "/api/tables").body)["tables"]
    schemas = described["components"]["schemas"]
    assert set(schemas["Table"]["properties"]) == set(table)
    assert set(schemas["Gap"]["properties"]) == set(Gap.__struct_fields__)


def test_rows_come_as_json(gateway: LocalGateway) -> None:
    body = json.loads(read(gateway, "/api/tables/people/rows?limit=2"))
    assert (body["table"], body["total"], body["generation"]) == ("people", 20, 1)
    assert body["rows"][0] == {
        "_id": "0:0",
        "name": None,
        "age": 2**63 - 1,
        "height": 1.5,
        "balance": "12.5000000000",
        "member": True,
        "seen": "2026-01-01T00:00:00.123456Z",
        "ts": "2026-01-01T00:00:00.123456Z",
        "_partition": 0,
        "_offset": 0,
    }


def test_filter_order_search_and_paging_are_those_of_the_windows(gateway: LocalGateway) -> None:
    filter_ = quote('{"column":"age","op":"between","value":[5,15]}')
    target = f"/api/tables/people/rows?filter={filter_}&order=-age&offset=1&limit=2&columns=name"
    assert names(read(gateway, target)) == ["P14", "P13"]
    assert names(read(gateway, "/api/tables/people/rows?search=p7")) == ["P7"]
    assert names(read(gateway, "/api/tables/people/rows?offset=-1")) == ["P19"]
    assert names(read(gateway, "/api/tables/people/rows?order=name:first&limit=1")) == [None]


def test_rows_come_as_csv_lines_and_arrow(gateway: LocalGateway) -> None:
    target = "/api/tables/people/rows?columns=name,age&limit=all"
    rows = list(csv.reader(io.StringIO(read(gateway, target, "text/csv").decode(), newline="")))
    assert rows[:3] == [
        ["_id", "name", "age"],
        ["0:0", "", str(2**63 - 1)],
        ["0:1", '=1,"x"\n', "1"],
    ]
    lines = read(gateway, target + "&format=ndjson").decode().splitlines()
    assert json.loads(lines[1]) == {"_id": "0:1", "name": '=1,"x"\n', "age": 1}
    table = pa.ipc.open_stream(read(gateway, target + "&format=arrow")).read_all()
    assert table.schema.names == ["_id", "name", "age"]
    assert [len(rows) - 1, len(lines), table.num_rows] == [20, 20, 20]


def test_arrow_has_the_types_of_the_columns(gateway: LocalGateway) -> None:
    schema = pa.ipc.open_stream(
        read(gateway, "/api/tables/people/rows?format=arrow&limit=1")
    ).schema
    assert [str(field.type) for field in schema] == [
        "string",
        "string",
        "int64",
        "double",
        "decimal128(38, 10)",
        "bool",
        "timestamp[us, tz=UTC]",
        "timestamp[us, tz=UTC]",
        "int64",
        "int64",
    ]


def test_guarded_csv_can_be_opened_in_a_spreadsheet(gateway: LocalGateway) -> None:
    body = read(gateway, "/api/tables/people/rows?format=csv&guard=true&columns=name&limit=2")
    assert b"'=1," in body


def test_head_says_what_get_would_and_sends_nothing(gateway: LocalGateway) -> None:
    for target in ("/livez", "/api/tables", "/api/tables/people/rows?format=csv"):
        answer = ask(gateway, target, "HEAD")
        assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="people.csv"'
    assert ask(gateway, "/api/tables/nothing/rows", "HEAD").status == 404


def test_every_answer_has_the_headers_of_the_door(gateway: LocalGateway) -> None:
    for target, status in (("/livez", 200), ("/api/tables", 200), ("/nothing", 404)):
        answer = ask(gateway, target)
        assert answer.status == status
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["server"] == "evergrid"
    assert ask(gateway, "/api/tables").headers["cache-control"] == "no-store"


def test_pages_of_configured_origins_may_ask(gateway: LocalGateway) -> None:
    preflight = ask(
        gateway,
        "/api/tables",
        "OPTIONS",
        Authorization="",
        Origin=OTHER_PAGE,
        Access_Control_Request_Method="GET",
    )
    assert preflight.status == 204
    assert preflight.headers["access-control-allow-origin"] == OTHER_PAGE
    assert "Authorization" in preflight.headers["access-control-allow-headers"]
    answer = ask(gateway, "/api/tables", Origin=OTHER_PAGE)
    assert answer.headers["access-control-allow-origin"] == OTHER_PAGE
    assert ask(gateway, "/api/tables", "OPTIONS", Origin="https://evil.example").status == 403


def test_health_needs_no_key(gateway: LocalGateway) -> None:
    assert ask(gateway, "/livez", Authorization="").body == b'{"alive":true}\n'
    assert ask(gateway, "/readyz", Authorization="").status == 200
    gateway.engine.ready = False
    try:
        loading = ask(gateway, "/readyz", Authorization="")
        assert (loading.status, loading.code) == (503, "not_ready")
        assert b"Tables are being loaded." in loading.body
        assert b"1 of 2" not in loading.body
        told = ask(gateway, "/readyz")
        assert (told.status, told.code) == (503, "not_ready")
        assert b"1 of 2" in told.body
        wrong = ask(gateway, "/readyz", Authorization="Bearer eg_wrong")
        assert (wrong.status, wrong.code) == (401, "bad_key")
        assert ask(gateway, "/livez", Authorization="").status == 200
    finally:
        gateway.engine.ready = True


def test_a_table_that_is_being_loaded_is_not_shown_in_part(gateway: LocalGateway) -> None:
    gateway.say("people", Live.LOADING, "Loading: 5 of 10 changes.")
    try:
        answer = ask(gateway, "/api/tables/people/rows")
        assert (answer.status, answer.code) == (503, "not_ready")
        assert b"5 of 10" in answer.body
        assert answer.headers["retry-after"] == "1"
    finally:
        gateway.say("people", Live.LIVE)


def test_metrics_tell_what_was_done(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        caller.log_in()
        caller.open(1, limit=10)
        caller.watch()
        text = ask(gateway, "/metrics").body.decode()
    assert 'evergrid_table_rows{table="people"} 20' in text
    assert "evergrid_connections 1\n" in text
    assert "evergrid_subscribers 1\n" in text
    assert re.search(r"evergrid_frames_total [1-9]", text)


def test_a_key_for_some_tables_gets_no_metrics_of_the_whole_gateway(gateway: LocalGateway) -> None:
    some = f"Bearer {gateway.new_key('some', ['peop*'])}"
    wait_until(lambda: ask(gateway, "/metrics", Authorization=some).status == 200, "the new key")
    text = ask(gateway, "/metrics", Authorization=some).body.decode()
    assert 'evergrid_table_rows{table="people"} 20' in text
    assert "evergrid_ready 1\n" in text
    for hidden in ("connections", "logins", "rows_applied", "http_requests", "loop_delay"):
        assert hidden not in text


def test_the_delay_of_the_loop_is_measured(gateway: LocalGateway) -> None:
    measured = re.compile(rb"evergrid_loop_delay_seconds_count [1-9]")
    wait_until(lambda: bool(measured.search(ask(gateway, "/metrics").body)), "a measurement")


def test_the_description_names_every_route_and_only_those(gateway: LocalGateway) -> None:
    described = json.loads(ask(gateway, "/openapi.json", Authorization="").body)
    assert described["openapi"].startswith("3.1")
    assert set(described["paths"]) == set(gateway.running.routes)
    for name in re.findall(r"#/components/schemas/(\w+)", json.dumps(described)):
        assert name in described["components"]["schemas"]


@pytest.fixture(scope="module")
def _big(gateway: LocalGateway) -> None:
    big = msgspec.structs.replace(PEOPLE, name="big")
    gateway.place(big, [person(offset, name="x" * 1000) for offset in range(20_000)])


def start_download(gateway: LocalGateway, key: str = "all") -> Caller:
    """A download of which only the beginning is read."""
    caller = Caller(gateway, receive_buffer=4096)
    target = "/api/tables/big/rows?limit=all&format=csv"
    head = f"Host: {caller.host()}\r\nAuthorization: Bearer {gateway.secrets[key]}"
    caller.send(f"GET {target} HTTP/1.1\r\n{head}\r\n\r\n".encode())
    assert caller.socket.recv(15) == b"HTTP/1.1 200 OK"
    return caller


@pytest.mark.usefixtures("_big")
def test_large_downloads_are_streamed_whole(gateway: LocalGateway) -> None:
    body = read(gateway, "/api/tables/big/rows?limit=all&format=ndjson")
    assert [json.loads(line)["age"] for line in body.splitlines()] == list(range(20_000))
    table = pa.ipc.open_stream(read(gateway, "/api/tables/big/rows?limit=all&format=arrow"))
    assert table.read_all().num_rows == 20_000


@pytest.mark.usefixtures("_big")
def test_large_downloads_are_few_at_once(gateway: LocalGateway) -> None:
    other = f"Bearer {gateway.new_key('downloads')}"
    wait_until(
        lambda: ask(gateway, "/api/tables", Authorization=other).status == 200, "the new key"
    )
    downloads = [start_download(gateway), start_download(gateway)]
    try:
        refused = ask(gateway, "/api/tables/big/rows?limit=all")
        assert (refused.status, refused.code) == (503, "too_many_exports")
        assert "this key has 2 large ones under way" in str(refused.body)
        assert refused.headers["retry-after"] == "1"
        downloads.append(start_download(gateway, "downloads"))
        third = ask(gateway, "/api/tables/big/rows?limit=all", Authorization=other)
        assert "3 large ones are under way" in str(third.body)
        assert ask(gateway, "/api/tables/big/rows?limit=100").status == 200
    finally:
        for download in downloads:
            download.close()
    wait_until(
        lambda: ask(gateway, "/api/tables/big/rows?limit=101&columns=age").status == 200,
        "the places of those who left",
    )
    assert gateway.said == []


@pytest.mark.usefixtures("_big")
def test_the_loop_goes_on_while_a_download_waits(gateway: LocalGateway) -> None:
    download = start_download(gateway)
    try:
        with calling(gateway) as caller:
            caller.log_in()
            caller.open(1, limit=10)
            caller.watch()
            gateway.upsert("people", [person(3, name="Mei")])
            assert caller.watch().sub == 1
    finally:
        download.close()
