"""Files of the gateway that only their owner may read, changed by one process at a time."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path

MODE = 0o600


def lock_parent(path: Path) -> int:
    """Lock the directory of `path`, which is created if necessary; closing the result unlocks it.

    The lock is on the directory, because a change may replace or rename the file itself.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
    except BaseException:
        os.close(directory)
        raise
    return directory


def replace_file(path: Path, content: bytes) -> None:
    """Replace the file at `path`, or the one that it links to, atomically."""
    target = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), MODE)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
