"""What tells that a file is not the one it was."""

from __future__ import annotations

import os
from pathlib import Path

Mark = tuple[int, int, int, int, int]


def mark(path: Path) -> Mark | None:
    """What changes whenever the file does, its permissions included; None when it is gone.

    Of the file that a link leads to, since that is how many programs put a new one in place.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode, found.st_uid)
