from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evergrid.process import child_process

LIMIT = 60.0
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, f"waited {LIMIT} s for {what}"
        time.sleep(0.02)


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that ended and whose parent was killed may wait to be reaped: that is not running.
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(state.stdout.strip()) and not state.stdout.strip().startswith("Z")


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def sleeper(ready: Path, before: str = "import time; ") -> list[str]:
    return python(f"{before}open({str(ready)!r}, 'w').close(); time.sleep(600)")


@contextmanager
def starter(tmp_path: Path, command: list[str]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A process of its own, and its group, with `command` as its child; and the child's pid."""
    told = tmp_path / "pid"
    code = f"""
        import os, time
        from pathlib import Path
        from evergrid.process import child_process
        held = child_process.start({command!r}, grace=2.0)
        Path({str(told)!r} + "~").write_text(str(held.pid))
        os.rename({str(told)!r} + "~", {str(told)!r})
        time.sleep(600)
    """
    process = subprocess.Popen(python(textwrap.dedent(code)), start_new_session=True)
    try:
        wait_for(told.exists, "the starter")
        yield process, int(told.read_text())
    finally:
        process.kill()
        process.wait()


def test_kill_9_of_the_starter_ends_the_command(tmp_path: Path) -> None:
    with starter(tmp_path, sleeper(tmp_path / "ready")) as (process, child):
        wait_for((tmp_path / "ready").exists, "the command")
        process.kill()
        process.wait()
        wait_for(lambda: not runs(child), "the command's end")


def test_kill_9_of_the_starters_whole_group_ends_the_command(tmp_path: Path) -> None:
    with starter(tmp_path, sleeper(tmp_path / "ready")) as (process, child):
        wait_for((tmp_path / "ready").exists, "the command")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        wait_for(lambda: not runs(child), "the command's end")


def test_a_command_that_ignores_being_asked_is_killed(tmp_path: Path) -> None:
    with starter(tmp_path, sleeper(tmp_path / "ready", STUBBORN)) as (process, child):
        wait_for((tmp_path / "ready").exists, "the command")
        process.kill()
        process.wait()
        wait_for(lambda: not runs(child), "the command's end")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_do_not_end_the_supervisor_only_the_end_of_its_input_does(
    tmp_path: Path, number: signal.Signals
) -> None:
    ready = tmp_path / "ready"
    holder = subprocess.Popen(
        [sys.executable, "-m", "evergrid.process.child_process", "--", *sleeper(ready)],
        stdin=subprocess.PIPE,
    )
    try:
        wait_for(ready.exists, "the command")
        for _ in range(3):
            holder.send_signal(number)
        with pytest.raises(subprocess.TimeoutExpired):
            holder.wait(0.5)
        assert holder.stdin is not None
        holder.stdin.close()
        assert holder.wait(LIMIT) == 128 + signal.SIGTERM
    finally:
        holder.kill()
        holder.wait()


def test_the_command_does_not_inherit_that_it_ignores_signals() -> None:
    asks = "import signal, sys; sys.exit(signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL)"
    assert child_process.start(python(asks)).wait(LIMIT) == 0


def test_what_the_command_left_behind_ends_with_it(tmp_path: Path) -> None:
    told = tmp_path / "grandchild"
    leaves = (
        "import subprocess, sys; "
        f"child = subprocess.Popen({sleeper(tmp_path / 'ready')!r}); "
        f"open({str(told)!r}, 'w').write(str(child.pid))"
    )
    assert child_process.start(python(leaves)).wait(LIMIT) == 0
    wait_for(lambda: not runs(int(told.read_text())), "the grandchild's end")


def test_stop_lets_the_command_end_in_order_and_gives_its_code(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    before = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); "
    held = child_process.start(sleeper(ready, before))
    wait_for(ready.exists, "the command")
    assert held.poll() is None
    assert runs(held.pid)
    assert held.stop(LIMIT) == 7
    assert held.poll() == 7
    assert held.stop() == 7  # again is harmless


def test_stop_kills_after_its_limit(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    held = child_process.start(sleeper(ready, STUBBORN), grace=600.0)
    wait_for(ready.exists, "the command")
    assert held.stop(0.2) == 128 + signal.SIGKILL
    assert not runs(held.pid)


def test_kill_is_a_kill_9(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    held = child_process.start(sleeper(ready, STUBBORN))
    wait_for(ready.exists, "the command")
    assert held.kill() == 128 + signal.SIGKILL
    assert not runs(held.pid)


def test_a_supervisor_that_was_killed_itself_still_lets_the_command_be_stopped(
    tmp_path: Path,
) -> None:
    ready = tmp_path / "ready"
    held = child_process.start(sleeper(ready))
    wait_for(ready.exists, "the command")
    parent = subprocess.run(
        ["ps", "-o", "ppid=", "-p", str(held.pid)], capture_output=True, text=True
    )
    os.kill(int(parent.stdout), signal.SIGKILL)
    held.stop()
    wait_for(lambda: not runs(held.pid), "the command's end")


def test_output_environment_and_folder_are_the_commands(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        says = "import os, sys; print(os.environ['WORD'], os.getcwd()); sys.stderr.write('err')"
        held = child_process.start(python(says), out, {**os.environ, "WORD": "hello"}, cwd=tmp_path)
        assert held.wait(LIMIT) == 0
    assert (tmp_path / "out").read_text() == f"hello {tmp_path.resolve()}\nerr"


def test_a_command_that_cannot_start_is_an_oserror_that_names_it() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-command"):
        child_process.start(["no-such-command"])
