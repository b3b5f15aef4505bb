"""Noticing that the secrets of a connection were rotated, for whoever holds a client for long."""

from __future__ import annotations

import os

from evergrid.config.settings import Connection

_Mark = tuple[Connection, tuple[tuple[str, int, int], ...]]
_FILE = ".location"  # how properties end that name a file; both clients read it when they are made


class Renewal:
    """Remembers what a client was made with."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._mark = self._look()

    def is_due(self) -> bool:
        """Whether a client made now would have other secrets; said once for each change."""
        before, self._mark = self._mark, self._look()
        return self._mark != before

    def _look(self) -> _Mark:
        now = self._connection.renewed()
        files = {
            value
            for values in (now.properties, now.java, now.python)
            for name, value in values.items()
            if name.endswith(_FILE)
        }
        return now, tuple(_state(file) for file in sorted(files))


def _state(file: str) -> tuple[str, int, int]:
    try:
        found = os.stat(file)
    except OSError:
        return file, 0, 0
    return file, found.st_mtime_ns, found.st_ino
