"""`evergrid sessions` and `evergrid key disconnect`: who is connected, and ending that."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.gateway.caller import calling, wait_until
from tests.support.local_gateway import LocalGateway

from evergrid.gateway.live import live_session

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def gateway(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[LocalGateway]:
    # The callers here answer no hearts while a command runs.
    monkeypatch.setattr(live_session, "SILENCE_SECONDS", 600.0)
    running = LocalGateway(tmp_path / "gateway")
    environ["EVERGRID_KEY"] = running.new_key("root", admin=True)
    running.new_key("wall")
    with running:
        environ["EVERGRID_URL"] = running.address
        yield running


def test_sessions_are_listed_and_ended(run: Run, gateway: LocalGateway) -> None:
    assert "No open sessions" in run("sessions").stderr
    with calling(gateway) as caller:
        caller.log_in(gateway.secrets["wall"])
        done = run("sessions")
        heading, line = done.stdout.splitlines()
        assert heading.split() == ["ID", "KEY", "ADDRESS", "SINCE", "WINDOWS"]
        session, key, address, *_, windows = line.split()
        assert (key, address, windows) == ("wall", "127.0.0.1", "0")
        done = run("sessions", "--end", session)
        assert (done.returncode, done.stdout) == (0, "")
        assert f"session {session} of key wall" in done.stderr
        assert caller.ending()[0] == "session_ended"
    done = run("sessions", "--end", session)
    assert done.returncode == 1
    assert "no such session" in done.stderr


def test_all_sessions_of_a_key_are_ended(run: Run, gateway: LocalGateway) -> None:
    with calling(gateway) as first, calling(gateway) as second, calling(gateway) as other:
        for caller in (first, second):
            caller.log_in(gateway.secrets["wall"])
        other.log_in()
        done = run("key", "disconnect", "wall")
        assert (done.returncode, done.stdout) == (0, "")
        assert "2 sessions of key 'wall'" in done.stderr
        assert [first.ending()[0], second.ending()[0]] == ["session_ended"] * 2
        other.open(1, "none")
        assert other.hear()["state"] == "waiting"
        assert "0 sessions" in run("key", "disconnect", "wall").stderr


def test_a_key_without_the_right_is_told(
    run: Run, gateway: LocalGateway, environ: dict[str, str]
) -> None:
    environ["EVERGRID_KEY"] = gateway.secrets["wall"]
    done = run("sessions")
    assert done.returncode == 1
    assert "may not see or end sessions" in done.stderr
    assert "--admin" in done.stderr


def test_last_uses_are_listed_after_the_gateway_has_written_them(
    run: Run, gateway: LocalGateway, environ: dict[str, str]
) -> None:
    environ["EVERGRID_GATEWAY__KEYS"] = str(gateway.settings.keys)
    with calling(gateway) as caller:
        caller.log_in(gateway.secrets["wall"])
        wait_until(lambda: bool(gateway.running.app.live.sessions()), "the session")
    gateway.stop()
    lines = {line.split()[0]: line.split() for line in run("key", "list").stdout.splitlines()}
    assert lines["NAME"][-2:] == ["LAST", "USE"]
    assert lines["all"][-1] == "-"
    assert lines["wall"][-1].endswith("Z")
