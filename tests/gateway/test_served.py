"""`evergrid gateway` as a user runs it: the real engine behind the same door."""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
import yaml

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.codec import Row
from evergrid.changelog.manifest import Gap
from evergrid.config import load
from evergrid.gateway.access.key_file import create_key
from evergrid.gateway.engine.engine_delay import BUSY
from evergrid.model.control_request import Verdict
from evergrid.model.generation import Generation, State, TableTopic
from evergrid.protocol.error_codes import Code
from evergrid.protocol.frames import FrameKind
from evergrid.testing.evergrid_process import EvergridProcess
from tests.gateway.caller import BINARY, TEXT, Caller, calling, frame, ids, label, wait_until, works
from tests.handwritten_pipeline import HandwrittenPipeline

TABLE = "users_ui"
START_SECONDS = 120.0
START = time.time_ns() // 1000  # retention drops what is old


class Stage(msgspec.Struct):
    """A gateway's process on a broker whose topics the test writes."""

    process: EvergridProcess
    port: int
    secret: str
    pipeline: HandwrittenPipeline
    generation: Generation

    @property
    def table(self) -> TableTopic:
        return self.generation.tables[TABLE]

    def write(self, offset: int, name: str = "") -> None:
        self.pipeline.write(self.table, f"0:{offset}", user(offset, name))


def user(offset: int, name: str = "") -> Row:
    return {
        "userId": f"U{offset}",
        "name": name or f"P{offset}",
        "email": None,
        "age": offset,
        "ts": START + offset,
        "_partition": 0,
        "_offset": offset,
        "_unknown_fields": 0,
    }


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("served")
    with EmbeddedBroker(tmp_path_factory.mktemp("kafka")) as broker:
        config = folder / "evergrid.yaml"
        config.write_text(
            yaml.safe_dump(
                {
                    "data_dir": str(folder / "data"),
                    "kafka": {"bootstrap": broker.bootstrap},
                    "gateway": {"port": 0, "linger": "1s"},
                }
            )
        )
        settings = load(config, {})
        pipeline = HandwrittenPipeline(settings)
        generation = pipeline.prepare(1)
        for offset in range(10):
            pipeline.write(generation.tables[TABLE], f"0:{offset}", user(offset))
        pipeline.switch(generation)
        _, secret = create_key(settings.gateway.keys, "tests", control=True)
        with start_gateway(config, folder) as process:
            yield Stage(process, port_of(process), secret, pipeline, generation)


def start_gateway(config: Path, folder: Path) -> EvergridProcess:
    environ = {name: text for name, text in os.environ.items() if name != "EVERGRID_CONFIG"}
    process = EvergridProcess(["gateway", "-c", str(config)], folder / "screen.txt", environ)
    process.wait_for_words("Serving at", START_SECONDS)
    return process


def port_of(process: EvergridProcess) -> int:
    found = re.search(r"Serving at http://127\.0\.0\.1:(\d+)", process.said())
    assert found is not None, process.said()
    return int(found[1])


def is_ready(stage: Stage) -> bool:
    with calling(stage) as caller:
        return caller.ask("/readyz").status == 200


@pytest.fixture(autouse=True)
def _ready(stage: Stage) -> Iterator[None]:
    wait_until(lambda: is_ready(stage), "all tables", START_SECONDS)
    yield
    assert stage.process.is_running(), stage.process.said()
    assert works(stage, TABLE)
    assert "Traceback" not in stage.process.said()


def test_a_window_follows_the_changelog(stage: Stage) -> None:
    with calling(stage) as caller:
        caller.log_in()
        caller.open(1, TABLE, limit=5)
        first = caller.watch()
        assert ids(first) == [f"0:{offset}" for offset in range(5)]
        stage.write(2, "Mei")
        second = caller.watch()
        assert (second.header.kind, second.header.base) == (
            FrameKind.DIFFERENCE,
            first.header.sequence,
        )
        caller.say(type="move", sub=1, offset=-2, limit=2)
        assert ids(caller.watch()) == ["0:8", "0:9"]


def test_rows_over_http_are_the_same(stage: Stage) -> None:
    with calling(stage) as caller:
        answer = caller.ask(f"/api/tables/{TABLE}/rows?order=-age&limit=3&format=csv&columns=age")
        assert answer.status == 200
        assert [line for line in answer.body.split(b"\r\n") if b"0:" in line] == [
            b"0:9,9",
            b"0:8,8",
            b"0:7,7",
        ]

    def states() -> dict[str, str]:
        with calling(stage) as caller:
            listed = json.loads(caller.ask("/api/tables").body)["tables"]
            return {table["name"]: table["state"] for table in listed}

    assert TABLE in states()
    wait_until(lambda: {*states().values()} == {"live"}, "all to be live")


def test_a_control_message_goes_out_and_its_verdict_comes_in(stage: Stage) -> None:
    stage.pipeline.take_control(["accounts", "users", "users_v2"])

    def offered() -> list[str]:
        with calling(stage) as caller:
            topics: list[str] = json.loads(caller.ask("/api/control").body)["control"]["topics"]
            return topics

    wait_until(lambda: offered() == ["accounts", "users", "users_v2"], "what may be asked for")
    message = b'{"usersTopic": "users_v2"}'
    with calling(stage) as caller:
        answer = caller.ask("/api/control", {"Content-Type": "application/json"}, "POST", message)
    assert answer.status == 202, answer.body
    place = json.loads(answer.body)["sent"]
    said = f"{message.decode()}: sent to evergrid-control as {place['partition']}:{place['offset']}"
    assert said in stage.process.said()
    stage.pipeline.judge((place["partition"], place["offset"]), Verdict.APPLIED, generation=2)

    def verdicts() -> bytes:
        with calling(stage) as caller:
            return caller.ask("/api/tables/control_raw/rows?format=csv&columns=verdict").body

    wait_until(
        lambda: f"{place['partition']}:{place['offset']},applied".encode() in verdicts(), "it"
    )


def test_who_comes_back_has_missed_nothing(stage: Stage) -> None:
    with calling(stage) as first, calling(stage) as other:
        other.log_in()
        other.open(1, TABLE)
        other.watch()
        instance = first.log_in()["instance"]
        first.open(1, TABLE)
        seen = first.watch().header.sequence
        first.close()
        with calling(stage) as again:
            again.log_in()
            again.open(1, TABLE, resume={"instance": instance, "sequence": seen})
            stage.write(3, "Ada")
            missed = again.watch().header
            assert (missed.kind, missed.base) == (FrameKind.DIFFERENCE, seen)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(TEXT, b"{"), Code.BAD_MESSAGE),
        (frame(BINARY, b"x"), Code.NOT_TEXT),
        (frame(TEXT, b"x" * 20_000), Code.TOO_LARGE),
        (frame(TEXT, b'{"type":"heart"}') * 101, Code.TOO_MANY_MESSAGES),
    ],
    ids=label,
)
def test_what_breaks_the_protocol_ends_the_connection(
    stage: Stage, sent: bytes, code: Code
) -> None:
    with calling(stage) as caller:
        caller.log_in()
        caller.send(sent)
        assert caller.ending() == (code.value, code.close)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"columns": ["salary"]}, Code.UNKNOWN_COLUMN),
        ({"filter": {"column": "age", "op": "equals", "value": "old"}}, Code.BAD_VALUE),
        ({"filter": {"column": "age", "op": "contains", "value": "1"}}, Code.BAD_FILTER),
        ({"order": [{"column": "age"}, {"column": "age"}]}, Code.BAD_ORDER),
        ({"search": "x" * 300}, Code.BAD_SEARCH),
    ],
)
def test_what_a_window_asks_wrongly_has_its_code(
    stage: Stage, change: dict[str, object], code: Code
) -> None:
    with calling(stage) as caller:
        caller.log_in()
        caller.open(2, TABLE, **change)
        answer = caller.hear()
        while answer["type"] == "state":
            answer = caller.hear()
        assert (answer["code"], answer["sub"]) == (code.value, 2)


def test_a_hundred_that_come_and_go_leave_no_view_behind(stage: Stage) -> None:
    for sub in range(100):
        with calling(stage) as caller:
            caller.log_in()
            caller.open(sub, TABLE, search=f"P{sub % 5}")
    wait_until(lambda: b"evergrid_subscribers 0\n" in metrics(stage), "all to have left")
    wait_until(lambda: b"evergrid_views 0\n" in metrics(stage), "their views to go")


def metrics(stage: Stage) -> bytes:
    with calling(stage) as caller:
        return caller.ask("/metrics").body


def test_only_the_join_changes_and_readers_of_its_sources_see_no_blank(stage: Stage) -> None:
    joined = stage.generation.tables["final_ui"].topic
    with calling(stage) as caller:
        caller.log_in()
        caller.open(1, TABLE, limit=5)
        before = caller.watch()
        second = stage.pipeline.prepare(2, sharing=stage.generation)
        stage.pipeline.switch(second)
        stage.pipeline.become(stage.generation, State.RETIRING)
        after = caller.watch()
        assert (before.header.generation, after.header.generation) == (1, 2)
        assert after.header.kind is FrameKind.FULL
        assert ids(after) == ids(before)
        stage.write(3, "Ann")
        assert caller.watch().header.kind is FrameKind.DIFFERENCE

    def figures() -> dict[str, dict[str, int]]:
        with calling(stage) as caller:
            listed = json.loads(caller.ask("/api/tables").body)["tables"]
            return {table["name"]: table for table in listed}

    wait_until(lambda: figures()["final_ui"]["generation"] == 2, "the new join")
    changes = figures()[TABLE]["changes"]
    stage.pipeline.remove(stage.generation, sharing=second)
    stage.pipeline.miss(second.tables["final_ui"], Gap("history", 4, ("U1",), START))
    said = "Table final_ui: rows may be missing or show an older match: history limit."
    stage.process.wait_for_words(said, START_SECONDS)
    assert "U1" not in stage.process.said()
    wait_until(lambda: bool(figures()["final_ui"]["gaps"]), "its gap")
    assert figures()[TABLE]["changes"] == changes, "nothing was loaded a second time"
    assert joined != second.tables["final_ui"].topic


def test_windows_of_a_gateway_that_is_too_busy_are_stale_until_it_has_caught_up(
    stage: Stage,
) -> None:
    enough = threading.Event()
    writer = threading.Thread(target=write_much, args=(stage, enough))
    with contextlib.ExitStack() as open_connections:
        viewer = open_connections.enter_context(calling(stage))
        viewer.log_in()
        viewer.open(1, TABLE, search="Last", columns=["name"])
        assert next_state(viewer)["state"] == "live"
        busy = [open_connections.enter_context(calling(stage)) for _ in range(4)]
        for number, caller in enumerate(busy):
            caller.log_in()
            for sub in range(60):
                caller.open(sub, TABLE, filter=expensive(f"{number}-{sub}"))
        writer.start()
        try:
            began = time.time_ns() // 1000
            told = next_state(viewer, busy)
        finally:
            enough.set()
            writer.join()
        assert (told["state"], told["message"]) == ("stale", BUSY)
        since = told["since"]
        assert isinstance(since, int)
        assert began - 10_000_000 < since < time.time_ns() // 1000 - 4_000_000
        shown = metrics(stage)
        assert f'evergrid_table_state{{table="{TABLE}",state="stale"}} 1\n'.encode() in shown
        assert b"evergrid_engine_delay_seconds 0" not in shown
        for caller in busy:
            caller.close()
        stage.write(10_000, "Last")
        assert next_state(viewer) == {"type": "state", "sub": 1, "state": "live", "message": ""}
        viewer.say(type="close", sub=1)
        viewer.open(2, TABLE, search="Last", columns=["name"])
        assert ids(viewer.watch()) == ["0:10000"]
    assert BUSY in stage.process.said()


def expensive(name: str) -> dict[str, object]:
    """A filter that no row passes, and that looks at every text of each."""
    parts = [{"column": "name", "op": "contains", "value": f"{name}-{n}"} for n in range(40)]
    return {"or": parts}


def write_much(stage: Stage, enough: threading.Event) -> None:
    while not enough.is_set():
        for start in range(1000, 9000, 2000):
            rows = {f"0:{offset}": user(offset) for offset in range(start, start + 2000)}
            stage.pipeline.write_all(stage.table, rows)


def next_state(viewer: Caller, others: Sequence[Caller] = ()) -> dict[str, object]:
    """The next state of a window; every heart is answered, for the others too."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        opcode, payload = viewer.next()
        message = json.loads(payload) if opcode == TEXT else {}
        if message.get("type") == "state":
            return dict(message)
        if message.get("type") == "heart":
            for caller in (viewer, *others):
                caller.say(type="heart")
    raise TimeoutError(f"no state within {START_SECONDS} s")


def test_it_stops_when_asked_and_tells_its_clients(stage: Stage, tmp_path: Path) -> None:
    config = stage.process.screen.parent / "evergrid.yaml"
    second = start_gateway(config, tmp_path)
    other = msgspec.structs.replace(stage, process=second, port=port_of(second))
    with calling(other) as caller:
        caller.log_in()
        assert second.stop() == 0
        assert caller.ending() == ("shutting_down", Code.SHUTTING_DOWN.close)
    assert "Traceback" not in second.said()
