"""A directory has one user at a time, and a lock never outlives the processes that hold it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from evergrid.model.errors import ConfigError
from evergrid.process import child_process, directory_lock
from evergrid.process.directory_lock import lock_directory

RUNS = (sys.executable, "-S", "-c", "import time; time.sleep(600)")


def test_a_second_user_is_told_who_has_it(tmp_path: Path) -> None:
    lock = lock_directory(tmp_path, "broker")
    with pytest.raises(ConfigError, match=rf"in use by another broker.* process {os.getpid()}\b"):
        lock_directory(tmp_path, "broker")
    os.close(lock)
    os.close(lock_directory(tmp_path, "broker"))


def test_a_second_user_may_wait_and_is_told_once_for_whom(tmp_path: Path) -> None:
    lock = lock_directory(tmp_path, "pipeline")
    told: list[str] = []

    def let_go(reason: str) -> None:
        told.append(reason)
        threading.Timer(1.0, os.close, [lock]).start()

    os.close(lock_directory(tmp_path, "pipeline", let_go))
    assert told == [
        f"the directory {tmp_path} is in use by another pipeline, started by process {os.getpid()}"
    ]


@pytest.fixture
def orphaned(tmp_path: Path) -> Callable[[], child_process.ChildProcess]:
    """A child that holds the lock, as if the process that took it were gone."""

    def start() -> child_process.ChildProcess:
        lock = lock_directory(tmp_path, "broker")
        child = child_process.start(RUNS, hold=(lock,))
        (tmp_path / "lock").write_text("")
        os.close(lock)
        return child

    return start


def test_a_child_holds_it_until_it_has_ended(
    tmp_path: Path,
    orphaned: Callable[[], child_process.ChildProcess],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = orphaned()
    try:
        monkeypatch.setattr(directory_lock, "_WAIT_SECONDS", 0.2)
        with pytest.raises(ConfigError, match="started by process unknown"):
            lock_directory(tmp_path, "broker")
        monkeypatch.undo()
        child.ask_to_end()
        os.close(lock_directory(tmp_path, "broker"))
    finally:
        child.stop()
