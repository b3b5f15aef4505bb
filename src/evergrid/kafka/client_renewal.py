"""Going on with secrets that were rotated, for whoever holds a client for long."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from evergrid.config.secrets import LOCATION, LOGIN
from evergrid.config.settings import Connection
from evergrid.kafka import jaas
from evergrid.kafka.clients import LOG
from evergrid.model.errors import ConfigError, LinkError

_State = tuple[int, ...]
_Mark = tuple[Connection, tuple[_State, ...]]
_Made = TypeVar("_Made")

CHECK_SECONDS = 1.0  # between looks, however often somebody asks
RETRY_SECONDS = 5.0  # after a client could not be made
_KEPT = "Until then the client that was made before is used."


class ClientRenewal:
    """Remembers what a client was made with; `say` is told once why there is no new one."""

    def __init__(
        self,
        connection: Connection,
        say: Callable[[str], None] = LOG.warning,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = connection
        self._say = say
        self._said = ""
        self._clock = clock
        self._look_at = clock() + CHECK_SECONDS
        self._used: _Mark | None = self._look()
        self._seen = self._used
        self._lock = threading.Lock()

    def renew(self, make: Callable[[], _Made]) -> _Made | None:
        """What `make` gives with new secrets; None while they are the old ones.

        None also when nothing can be made with them, as with a certificate that is not the
        key's: the old client is better than none. It is tried again a little later.
        """
        if not self._is_due():
            return None
        try:
            made = make()
        except (ConfigError, LinkError) as error:
            self._used, self._look_at = None, self._clock() + RETRY_SECONDS
            self._tell(f"{error.sentence()} {_KEPT}")
            return None
        self._said = ""
        return made

    def _is_due(self) -> bool:
        """Whether secrets are new, and have stayed the same since the last look.

        Certificate and key are two files: whoever renews them writes one after the other.
        """
        with self._lock:
            now = self._clock()
            if now < self._look_at:
                return False
            is_late = now > self._look_at + CHECK_SECONDS
            self._look_at = now + CHECK_SECONDS
            before, self._seen = self._seen, self._look()
            if is_late and self._seen != before:
                # Nobody has asked for long, and whoever does now is not to use an old secret.
                time.sleep(CHECK_SECONDS)
                before, self._seen = self._seen, self._look()
            if self._seen == self._used or self._seen != before:
                return False
            self._used = self._seen
            return True

    def _tell(self, sentence: str) -> None:
        if sentence != self._said:
            self._say(sentence)
        self._said = sentence

    def _look(self) -> _Mark:
        now = self._connection.renewed()
        lines = (now.properties, now.java, now.python)
        files = {file for values in lines for file in _files(values)}
        return now, tuple(_state(file) for file in sorted(files))


def _files(values: Mapping[str, str]) -> Iterator[str]:
    """The files that properties name, and the options of the login among them: both clients read
    them when they are made."""
    login = jaas.parse(values.get(LOGIN, ""))
    for name, value in (*values.items(), *(login.options.items() if login else ())):
        if name.endswith(LOCATION):
            yield value


def _state(file: str) -> _State:
    """What changes whenever the file does, its permissions included."""
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode, found.st_uid)
