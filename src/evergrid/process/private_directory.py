"""Directories and files that nobody but their owner may read, and what Java writes into them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from evergrid.process import child_process

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private(directory: Path, report: Callable[[str], None]) -> None:
    """Create a directory for its owner alone; an existing one is taken from others.

    One that is meant for everybody, such as /tmp, or that another user owns, such as a volume of a
    container, stays as it is: in it, only the files and folders that we make are private.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    state = directory.stat()
    mode = stat.S_IMODE(state.st_mode)
    if not mode & _OTHERS:
        return
    if state.st_uid != os.geteuid() or mode & stat.S_ISVTX:
        report(
            f"Warning: other users can list {directory} (mode {mode:o}), and it is not this "
            "user's own to change; the files in it are private. Choose a directory of its own."
        )
        return
    directory.chmod(mode & ~_OTHERS)
    report(f"Other users could read {directory} (mode {mode:o}); its mode is 700 now.")


@contextlib.contextmanager
def private_files() -> Iterator[None]:
    """Files made meanwhile are for their owner alone, also those of processes started meanwhile."""
    before = os.umask(child_process.PRIVATE)
    try:
        yield
    finally:
        os.umask(before)


def write_secret(path: Path, text: str) -> Path:
    """Write `text` for its owner alone, whole or not at all: its readers never see half of it."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)  # one left behind may have been opened to others
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    new.replace(path)
    return path
