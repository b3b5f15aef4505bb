"""Rows of any width: no frame and no answer is built that is larger than its limit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from evergrid.changelog.arrow_reader import RowReader
from evergrid.config.settings import GatewayLimits
from evergrid.protocol.frames import FrameKind
from tests.gateway.caller import BINARY, TEXT, Caller, Message, calling, ids, wait_until
from tests.gateway.conftest import PEOPLE, person
from tests.support.local_gateway import LIMITS, LocalGateway

MEGABYTE = 2**20
WIDE = "x" * 250_000
ROWS = 600  # 150 MB, of which the gateway holds the one text once
MEMORY = 96 * MEGABYTE  # that serving them may need: some copies of one frame


def wide(count: int) -> pa.RecordBatch:
    """So many rows with a wide name; as a batch, since JSON of that size takes seconds."""
    rows = [msgspec.json.encode(person(offset)) for offset in range(count)]
    batch, _ = RowReader(PEOPLE).read(rows)
    index = batch.schema.get_field_index("name")
    return batch.set_column(index, batch.schema.field(index), pa.array([WIDE] * count))


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., LocalGateway]]:
    """A gateway with wide rows and these limits."""
    running: list[LocalGateway] = []

    def serve(**limits: int) -> LocalGateway:
        changed: GatewayLimits = msgspec.structs.replace(LIMITS, **limits)
        gateway = LocalGateway(tmp_path, changed)
        gateway.new_key("other")
        running.append(gateway.__enter__())
        gateway.place(PEOPLE, wide(ROWS))
        return gateway

    yield serve
    for gateway in running:
        gateway.__exit__()


def told(caller: Caller, code: str | None) -> Message:
    """The next state of a window that has this code; None: that has none."""
    while (message := caller.hear()).get("code") != code:
        assert message["type"] == "state", message
    return message


def largest_until(caller: Caller, ended: Callable[[bytes], bool]) -> int:
    """The size of the largest frame up to one that is the last."""
    largest = 0
    while True:
        opcode, payload = caller.next()
        if opcode == TEXT and b'"heart"' in payload:
            caller.say(type="heart")
        if opcode == BINARY:
            largest = max(largest, len(payload))
            if ended(payload):
                return largest


def peak() -> int:
    """The most memory that this process has had since `forget_peak`."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def forget_peak() -> int:
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def test_a_window_of_wide_rows_is_cut_before_it_is_built(
    serve: Callable[..., LocalGateway],
) -> None:
    gateway = serve()
    with calling(gateway) as viewer, calling(gateway) as attacker:
        viewer.log_in()
        viewer.open(1, columns=["age"], limit=3)
        assert len(ids(viewer.watch())) == 3
        before = forget_peak()
        attacker.log_in()
        for sub in range(2):
            attacker.open(sub, limit=ROWS, offset=sub)
        largest = largest_until(attacker, lambda frame: frame[0] == 1)
        assert MEGABYTE < largest <= LIMITS.frame_bytes
        gateway.upsert("people", [person(0, name="narrow", age=77)])
        frame = viewer.watch()
        assert (frame.header.kind, frame.header.rows) == (FrameKind.DIFFERENCE, 3)
        assert peak() - before < MEMORY


def test_a_cut_window_says_so_and_goes_on(serve: Callable[..., LocalGateway]) -> None:
    gateway = serve(frame_bytes=MEGABYTE)
    with calling(gateway) as caller:
        caller.log_in()
        caller.open(1, limit=ROWS)
        state = told(caller, "window_too_large")
        assert state["state"] == "live"
        assert "fewer rows or columns" in str(state["message"])
        frame = caller.watch()
        assert 0 < frame.header.rows < ROWS
        assert ids(frame)[:2] == ["0:0", "0:1"]
        assert (frame.header.offset, frame.header.total) == (0, ROWS)
        caller.say(type="move", sub=1, offset=-ROWS, limit=ROWS)
        frame = caller.watch()
        assert ids(frame)[-1] == f"0:{ROWS - 1}"
        assert frame.header.offset == ROWS - frame.header.rows
        caller.open(2, columns=["age"], limit=ROWS)
        assert "code" not in caller.hear()
        assert len(ids(caller.watch())) == ROWS


def test_a_window_that_becomes_too_wide_recovers(serve: Callable[..., LocalGateway]) -> None:
    gateway = serve(frame_bytes=MEGABYTE)
    gateway.upsert("people", [person(offset) for offset in range(100)])
    with calling(gateway) as caller:
        caller.log_in()
        caller.open(1, limit=100)
        told(caller, None)
        assert caller.watch().header.rows == 100
        gateway.upsert("people", wide(100))
        told(caller, "window_too_large")
        assert caller.watch().header.rows < 100
        gateway.upsert("people", [person(offset) for offset in range(100)])
        told(caller, None)
        assert caller.watch().header.rows == 100


@pytest.mark.parametrize("limit", ["bytes_per_connection", "bytes_per_key", "total_bytes"])
def test_windows_beyond_the_limit_wait_until_there_is_room(
    serve: Callable[..., LocalGateway], limit: str
) -> None:
    gateway = serve(**{"frame_bytes": 8 * MEGABYTE, limit: 2 * MEGABYTE})
    with calling(gateway) as first, calling(gateway) as another:
        first.log_in()
        second = first if limit == "bytes_per_connection" else another
        if second is another:
            second.log_in(gateway.secrets["other" if limit == "total_bytes" else "all"])
        first.open(1, limit=5)
        told(first, None)
        assert first.watch().header.rows == 5
        second.open(2, limit=5, offset=50)
        state = told(second, "too_many_bytes")
        assert state["state"] == "waiting"
        assert "limit" in str(state["message"])
        second.open(3, columns=["age"], limit=3)  # the connection goes on
        told(second, None)
        assert second.watch().header.rows == 3
        first.say(type="close", sub=1)
        told(second, None)
        frame = second.watch()
        assert (frame.sub, ids(frame)[0]) == (2, "0:50")


def test_large_frames_wait_for_those_of_the_key_that_are_not_read(
    serve: Callable[..., LocalGateway],
) -> None:
    gateway = serve(bytes_per_key=3 * MEGABYTE)
    sending = gateway.running.app.live._sending
    with (
        calling(gateway, 4096) as slow,
        calling(gateway, 4096) as slower,
        calling(gateway) as waiting,
        calling(gateway) as other,
    ):
        for one in (slow, slower):
            one.log_in()
            one.open(1, limit=8)
        wait_until(lambda: sending.is_full("all"), "two frames that are not read")
        waiting.log_in()
        waiting.open(1, limit=8)
        waiting.open(2, columns=["age"], limit=3)
        other.log_in(gateway.secrets["other"])
        other.open(1, limit=8)
        assert other.watch().header.rows == 8
        told(waiting, None)
        slow.close()
        slower.close()
        assert {waiting.watch().sub, waiting.watch().sub} == {1, 2}
    wait_until(lambda: sending.total == 0, "nothing to be sent")


@pytest.mark.parametrize("form", ["ndjson", "csv", "arrow"])
def test_rows_over_http_are_sent_in_pieces(serve: Callable[..., LocalGateway], form: str) -> None:
    gateway = serve()
    with calling(gateway) as caller:
        head = f"GET /api/tables/people/rows?limit={ROWS}&columns=name&format={form} HTTP/1.0"
        lines = [head, f"Host: {caller.host()}", f"Authorization: {caller.bearer()}", "", ""]
        before = forget_peak()
        caller.send("\r\n".join(lines).encode())
        size = 0
        while part := caller.socket.recv(MEGABYTE):
            size += len(part)
        assert size > ROWS * len(WIDE)
        assert peak() - before < MEMORY


def test_a_name_that_comes_twice_is_refused_and_others_go_on(
    serve: Callable[..., LocalGateway],
) -> None:
    gateway = serve(frame_bytes=MEGABYTE)
    with calling(gateway) as caller:
        caller.log_in()
        caller.open(1, columns=["name"] * 1900, limit=5000)
        error = caller.hear()
        assert (error["code"], error["sub"], error.get("fatal")) == ("duplicate_column", 1, None)
        caller.open(1, columns=["age"], limit=3)
        assert caller.watch().header.rows == 3
    with calling(gateway) as caller:
        answer = caller.ask("/api/tables/people/rows?columns=" + ",".join(["name"] * 1000))
        assert (answer.status, json.loads(answer.body)["error"]["code"]) == (
            400,
            "duplicate_column",
        )
