"""One process per directory: a lock that the kernel releases however its holder ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from evergrid.model.errors import ConfigError

_WAIT_SECONDS = 10.0  # how long a child process whose starter was killed may take to end
_POLL_SECONDS = 0.1


def lock_directory(directory: Path, user: str, wait: Callable[[str], None] | None = None) -> int:
    """Lock `directory` for a `user` such as "broker"; return the descriptor that holds the lock.

    While another process has the lock, it tells `wait` the reason once, and waits; without `wait`
    it raises ConfigError. It waits in any case while the process that took the lock is gone: then
    a child process of it still holds the lock (`hold` in `child_process.start`), and is about to
    end.
    """
    lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    deadline, is_told = time.monotonic() + _WAIT_SECONDS, False
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(lock, 32, 0).decode(errors="replace").strip()
            if not _is_alive(owner) and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
                continue
            reason = f"the directory {directory} is in use by another {user}, started by "
            reason += f"process {owner or 'unknown'}"
            if wait is None:
                os.close(lock)
                remedy = "End that one first, or choose another directory."
                raise ConfigError(reason, remedy=remedy) from None
            if not is_told:
                wait(reason)
                is_told = True
            time.sleep(_POLL_SECONDS)
            continue
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        return lock


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    return True
