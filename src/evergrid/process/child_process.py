"""Run a command so that it cannot outlive the process that started it.

`python -m evergrid.process.child_process -- command…` is a supervisor: it runs the command as its
child, in a session of its own, and ends it when standard input reaches its end. The starter holds
the other end of that pipe, and the kernel closes it however the starter dies, `kill -9` included;
no signal and no polling could promise that on both Linux and macOS.

1. The supervisor ignores SIGINT, SIGTERM and SIGHUP: only the end of its input decides, so that
   Ctrl-C lets the starter stop its children in the order it wants.
2. A number on its input sets the grace in seconds; the last one counts.
3. At the end of input, or when the command ended by itself, the whole process group of the command
   gets SIGTERM, and what is left after the grace gets SIGKILL.
4. It exits as the command did: its code, or 128 + the signal that ended it.

This file is also the supervisor's script, run by its path with `python -I -S`: it imports the
standard library alone, so that it starts in milliseconds and needs no import path. A starter must
not fork without exec while it has a child process: the copy would hold the pipe as well.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

GRACE_SECONDS = 5.0
PRIVATE = 0o077  # the umask under which files are for their owner alone
_KILL_SECONDS = 60.0  # after SIGKILL only the kernel, or a machine that stands still, can delay it
_POLL_SECONDS = 0.02


class ChildProcess:
    """A running command that ends when we stop it, or when we end."""

    def __init__(self, supervisor: subprocess.Popen[bytes], pid: int) -> None:
        self._supervisor = supervisor
        self.pid = pid

    def poll(self) -> int | None:
        """None while the command runs; then its exit code, or 128 + its signal."""
        code = self._supervisor.poll()
        if code is not None and code < 0:  # the supervisor itself was killed: do its work
            _signal_group(self.pid, signal.SIGKILL)
            return 128 - code
        return code

    def ask_to_end(self, limit: float = GRACE_SECONDS) -> None:
        """Send SIGTERM, and SIGKILL after `limit` seconds. To stop several side by side, ask all of
        them before waiting for the first."""
        assert self._supervisor.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # it has ended, or was stopped before
            self._supervisor.stdin.write(f"{limit}\n".encode())
            self._supervisor.stdin.flush()
        self._close_pipe()

    def stop(self, limit: float = GRACE_SECONDS) -> int:
        """Ask the command to end, wait for it, and return its code."""
        self.ask_to_end(limit)
        return self.wait(limit + _KILL_SECONDS)

    def kill(self) -> int:
        """End the command and its group at once, as `kill -9` does; return its code."""
        if self._supervisor.poll() is None:
            _signal_group(self.pid, signal.SIGKILL)
        return self.stop(0.0)

    def wait(self, limit: float | None = None) -> int:
        """Wait until the command has ended by itself; subprocess.TimeoutExpired after `limit`."""
        self._supervisor.wait(limit)
        self._close_pipe()
        code = self.poll()
        assert code is not None
        return code

    def _close_pipe(self) -> None:
        assert self._supervisor.stdin is not None
        with contextlib.suppress(OSError):  # what was written and never read
            self._supervisor.stdin.close()


def start(
    command: Sequence[str | Path],
    stdout: IO[bytes] | int | None = None,
    env: Mapping[str, str] | None = None,
    *,
    cwd: Path | None = None,
    grace: float = GRACE_SECONDS,
    hold: Sequence[int] = (),
    umask: int = PRIVATE,
) -> ChildProcess:
    """Start `command` under a supervisor; its output and errors go to `stdout`.

    Raises OSError as subprocess does when the command cannot be started. `hold` are
    descriptors that the supervisor keeps open until the command has ended, such as a lock's.
    The command's files are for their owner alone, unless `umask` is another; -1 leaves ours.
    """
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as report:
        try:
            supervisor = subprocess.Popen(
                # Isolated: the starter's PYTHON… variables are for the command, not for us.
                [
                    *(sys.executable, "-I", "-S", __file__),
                    *(f"--grace={grace}", f"--report={writer}", "--"),
                    *map(str, command),
                ],
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=subprocess.STDOUT if stdout is not None else None,
                env=env,
                cwd=cwd,
                pass_fds=(writer, *hold),
                umask=umask,
                # Out of our group, so that a `kill -9` of the group leaves it to clean up.
                start_new_session=True,
            )
        finally:
            os.close(writer)
        said = report.read().decode()
    if said.isdigit():
        return ChildProcess(supervisor, int(said))
    supervisor.communicate()
    number, _, text = (said or "0 the supervisor did not start").partition(" ")
    raise OSError(int(number), text, str(command[0]))


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a group; False when nobody is left in it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # macOS: only zombies are left in it
        return False
    return True


def _main(arguments: Sequence[str]) -> int:
    if "--" not in arguments or arguments[-1] == "--":
        raise SystemExit("usage: child_process [--grace=SECONDS] -- command …")
    at = arguments.index("--")
    options = dict(option.removeprefix("--").split("=", 1) for option in arguments[:at])
    command = arguments[at + 1 :]
    grace = float(options.get("grace", GRACE_SECONDS))
    wake_reader, wake_writer = os.pipe()
    os.set_blocking(wake_writer, False)
    # A handler and not SIG_IGN: being ignored would be inherited by the command.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    report = int(options["report"]) if "report" in options else None
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        _tell(report, f"{error.errno or 0} {error.strerror}")
        return 127
    _tell(report, f"{child.pid}")
    return _end(child, _watch(child, wake_reader, grace))


def _tell(report: int | None, text: str) -> None:
    if report is not None:
        with contextlib.suppress(OSError):  # the starter has died: its pipe says so next
            os.write(report, text.encode())
        os.close(report)


def _watch(child: subprocess.Popen[bytes], wake: int, grace: float) -> float:
    """Wait for the end of the command or of our input; return the grace to give."""
    said = b""
    while child.poll() is None:
        ready, _, _ = select.select([0, wake], [], [])
        if wake in ready:
            os.read(wake, 512)
        if 0 in ready:
            piece = os.read(0, 512)
            if not piece:
                break
            said = (said + piece)[-512:]
    for line in said.split():
        with contextlib.suppress(ValueError):
            grace = float(line)
    return grace


def _end(child: subprocess.Popen[bytes], grace: float) -> int:
    """End what is left of the command's group, and return how the command ended."""
    left = _signal_group(child.pid, signal.SIGTERM)
    limit = time.monotonic() + grace
    while left and time.monotonic() < limit:
        time.sleep(_POLL_SECONDS)
        child.poll()  # a zombie would count as a member of the group
        left = _signal_group(child.pid, 0)  # 0 only asks
    if left:
        _signal_group(child.pid, signal.SIGKILL)
    code = child.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
