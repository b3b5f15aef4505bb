"""The same for programs without an event loop: calls that wait, and nothing left behind."""

from __future__ import annotations

import gc
import inspect
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, assert_type

import pytest

import evergrid
from evergrid.changelog.manifest import Gap
from evergrid.client import (
    Asked,
    AsyncClient,
    Change,
    ChangeKind,
    Client,
    Live,
    LiveWindow,
    TableDescription,
    Timeouts,
    Windows,
)
from evergrid.client.client_errors import Closed, Denied, Rejected, Unreachable
from tests.client.people import LIMIT, ids, person, until
from tests.programs import started
from tests.support.local_gateway import LocalGateway

QUICK = Timeouts(first_wait=0.02, longest_wait=0.2)


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def client_threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if "evergrid client" in thread.name}


def test_tables_snapshots_windows_and_changes(gateway: LocalGateway) -> None:
    with evergrid.connect(gateway.address, gateway.secret) as client:
        assert [table.name for table in client.tables()] == ["users_ui"]
        assert client.table("users_ui").rows == 10
        assert client.snapshot("users_ui", where={"age": [2, 3]})["age"].to_pylist() == [2, 3]
        with client.windows("users_ui", order="-age", limit=2) as windows:
            assert ids(until(windows, lambda window: window.live)) == ["0:9", "0:8"]
            windows.move(1, 2)
            assert ids(until(windows, lambda window: window.offset == 1)) == ["0:8", "0:7"]
            assert ids(windows.newest) == ["0:8", "0:7"]
        assert list(windows) == []
        with client.changes("users_ui", where={"age": 3}) as changes:
            first = next(changes)
            assert (first.kind, first.id) == (ChangeKind.ADDED, "0:3")
            assert first.row is not None
            assert first.row["name"] == "P3"
            gateway.upsert("users_ui", [person(3, name="Ann")])
            changed = next(changes)
            assert changed.kind is ChangeKind.UPDATED
            gateway.upsert("users_ui", [person(3, age=4)])
            assert next(changes).kind is ChangeKind.REMOVED
            assert changes.newest.total == 0


def test_what_live_rows_may_lack_is_in_the_message(gateway: LocalGateway) -> None:
    warning = "Rows may be missing or show an older match for 1 key (u1): history limit."
    gateway.call(lambda: gateway.engine.gaps.update(users_ui=(Gap("history", 3, ("u1",), 5),)))
    with evergrid.connect(gateway.address, gateway.secret) as client:
        (told,) = client.table("users_ui").gaps
        assert (told.reason, told.messages, told.keys, told.since) == ("history", 3, ("u1",), 5)
        with client.windows("users_ui") as windows:
            assert until(windows, lambda window: window.live).message == ""
            gateway.say("users_ui", Live.LIVE, warning)
            window = until(windows, lambda window: window.message == warning)
            assert window.live
            assert window.rows.num_rows == 10
        with client.windows("users_ui", limit=3) as windows:
            assert until(windows, lambda window: window.live).message == warning


def test_a_table_that_generations_share_goes_on_without_a_change(gateway: LocalGateway) -> None:
    with (
        evergrid.connect(gateway.address, gateway.secret) as client,
        client.windows("users_ui") as windows,
        client.changes("users_ui") as changes,
    ):
        before = until(windows, lambda window: window.live)
        for _ in range(10):
            assert next(changes).kind is ChangeKind.ADDED
        gateway.share("users_ui", 2)
        after = until(windows, lambda window: window.generation == 2)
        assert (after.live, after.rows.equals(before.rows)) == (True, True)
        gateway.upsert("users_ui", [person(3, name="Ann")])
        change = next(changes)
        assert (change.kind, change.id) == (ChangeKind.UPDATED, "0:3"), "and nothing before"


def test_waiting_has_a_limit_and_loses_nothing(gateway: LocalGateway) -> None:
    with evergrid.connect(gateway.address, gateway.secret) as client:
        windows = client.windows("users_ui", limit=1)
        until(windows, lambda window: window.live)
        for age in range(100, 120):
            with pytest.raises(TimeoutError):
                windows.next(timeout=0.001)
            gateway.upsert("users_ui", [person(0, age=age)])
            until(windows, lambda window, age=age: window.rows["age"].to_pylist() == [age])  # type: ignore[misc]


def test_a_restart_of_the_gateway_is_seen_and_survived(gateway: LocalGateway) -> None:
    with evergrid.connect(gateway.address, gateway.secret, timeouts=QUICK) as client:
        windows = client.windows("users_ui", limit=1)
        until(windows, lambda window: window.live)
        gateway.stop()
        assert until(windows, lambda window: window.state is Live.STALE).stale_since is not None
        gateway.start()
        until(windows, lambda window: window.live)


def test_errors_come_as_they_are(gateway: LocalGateway) -> None:
    with pytest.raises(Denied, match="EVERGRID_KEY"):
        evergrid.connect(gateway.address, "eg_wrong")
    with evergrid.connect(gateway.address, gateway.secret) as client:
        with pytest.raises(Rejected, match="later_ui"):
            client.snapshot("later_ui")
        with pytest.raises(Rejected) as rejected:
            next(client.windows("users_ui", where={"column": "age", "op": "less", "value": "x"}))
        assert rejected.value.code == "bad_value"
    with pytest.raises(Unreachable):
        evergrid.connect("http://no-such-host.invalid", "eg_any")
    assert not client_threads()


def test_a_closed_client_says_so_and_its_thread_is_gone(gateway: LocalGateway) -> None:
    client = evergrid.connect(gateway.address, gateway.secret)
    windows = client.windows("users_ui")
    until(windows, lambda window: window.live)
    assert client_threads()
    client.close()
    client.close()
    windows.close()
    assert not client_threads()
    for call in (client.tables, windows.next):
        with pytest.raises(Closed, match="connect"):
            call()


def test_closing_from_another_thread_ends_the_waiting(gateway: LocalGateway) -> None:
    with evergrid.connect(gateway.address, gateway.secret) as client:
        ended: list[int] = []
        for close in (lambda windows: windows.close(), lambda windows: client.close()):
            windows = client.windows("users_ui", limit=1)
            until(windows, lambda window: window.live)

            def consume(windows: evergrid.client.Windows = windows) -> None:
                try:
                    ended.append(len(list(windows)))
                except Closed:
                    ended.append(0)

            consumer = threading.Thread(target=consume)
            consumer.start()
            close(windows)
            consumer.join(LIMIT)
            assert not consumer.is_alive()
        assert len(ended) == 2


def test_a_client_that_nobody_holds_ends_itself(gateway: LocalGateway) -> None:
    windows = evergrid.connect(gateway.address, gateway.secret).windows("users_ui")
    gc.collect()
    until(windows, lambda window: window.live)
    assert client_threads(), "a window holds its client"
    del windows
    gc.collect()
    eventually(lambda: not client_threads())


def test_a_loop_that_was_left_closes_its_window(gateway: LocalGateway) -> None:
    with evergrid.connect(gateway.address, gateway.secret) as client:
        for window in client.windows("users_ui"):
            if window.live:
                break
        eventually(lambda: gateway.call(gateway.engine.load).hub.subscribers == 0)


def test_threads_may_share_a_client(gateway: LocalGateway) -> None:
    with evergrid.connect(gateway.address, gateway.secret) as client:
        seen: list[list[object]] = []

        def look(offset: int) -> None:
            windows = client.windows("users_ui", offset=offset, limit=1)
            seen.append(ids(until(windows, lambda window: window.live)))

        threads = [threading.Thread(target=look, args=(offset,)) for offset in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT)
        assert sorted(seen, key=str) == [[f"0:{offset}"] for offset in range(8)]


PROGRAM = """
    import sys
    import evergrid

    with evergrid.connect(sys.argv[1]) as client:
        try:
            for window in client.windows("users_ui"):
                print("live" if window.live else "not yet", flush=True)
        finally:
            print("left the loop", flush=True)
"""


@pytest.mark.parametrize("caught", [True, False])
def test_ctrl_c_ends_an_iteration_cleanly(gateway: LocalGateway, caught: bool) -> None:
    program = textwrap.dedent(PROGRAM)
    if caught:
        inside = textwrap.indent(program, "    ")
        program = f"try:\n{inside}\nexcept KeyboardInterrupt:\n    print('bye')\n"
    running = started(["-c", program, gateway.address], EVERGRID_KEY=gateway.secret)
    assert running.stdout is not None
    while "live" not in (line := running.stdout.readline()):
        assert line, "it ended"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=LIMIT)
    assert "left the loop" in out
    if caught:
        assert (out.splitlines()[-1], err, running.returncode) == ("bye", "", 0)
    else:
        assert err.splitlines()[-1].startswith("KeyboardInterrupt")
        assert err.count("Traceback") == 1


def test_a_program_that_forgot_to_close_ends_quietly(gateway: LocalGateway) -> None:
    program = (
        "import sys, evergrid\n"
        "client = evergrid.connect(sys.argv[1])\n"
        "windows = client.windows('users_ui')\n"
        "print(next(windows).table)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, gateway.address],
        env=os.environ | {"EVERGRID_KEY": gateway.secret},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("users_ui\n", "", 0)


def test_importing_evergrid_is_light() -> None:
    program = "import sys, evergrid; print(sorted({'aiohttp', 'pyarrow'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_what_the_package_offers() -> None:
    assert sorted(evergrid.__all__) == ["__version__", "col", "connect", "connect_async"]
    assert all(getattr(evergrid, name) for name in evergrid.__all__)
    with pytest.raises(AttributeError, match="no attribute 'conect'"):
        _ = evergrid.conect  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "name",
    ["tables", "table", "snapshot", "windows", "changes", "ask", "sessions", "end_session"],
)
def test_its_calls_are_documented_like_those_with_an_event_loop(name: str) -> None:
    call, like = getattr(Client, name), getattr(AsyncClient, name)
    assert inspect.signature(call).parameters == inspect.signature(like).parameters
    returned = inspect.signature(like).return_annotation.removeprefix("Async")
    assert inspect.signature(call).return_annotation == returned
    assert (call.__doc__, call.__qualname__) == (like.__doc__, f"Client.{name}")


if TYPE_CHECKING:  # its calls have types, which mypy checks here

    def typed_calls(client: Client) -> None:
        assert_type(client.tables(), list[TableDescription])
        assert_type(client.table("users_ui"), TableDescription)
        assert_type(client.windows("users_ui", limit=2), Windows)
        assert_type(next(client.windows("users_ui")), LiveWindow)
        assert_type(client.changes("users_ui", where={"age": 3}).next(timeout=1), Change | None)
        assert_type(client.ask(usersTopic="users_v2"), Asked)
        client.snapshot("users_ui", offset="1")  # type: ignore[arg-type]
        client.windows("users_ui", colums=["age"])  # type: ignore[call-arg]
