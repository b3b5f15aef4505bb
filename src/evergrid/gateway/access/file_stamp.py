"""A stamp that changes whenever a file does."""

from __future__ import annotations

import os
from pathlib import Path

FileStamp = tuple[int, int, int, int, int]


def file_stamp(path: Path) -> FileStamp | None:
    """Time, size, inode, mode and owner of the file; None if it does not exist.

    Symbolic links are followed: many programs replace a file by pointing a link at a new one.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode, found.st_uid)
