"""New clients after a rotation of secrets, for code that keeps a client for long."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from evergrid.config.secrets import LOCATION, LOGIN
from evergrid.config.settings import Connection
from evergrid.kafka.clients import LOG
from evergrid.kafka.login_properties import parse_login
from evergrid.model.errors import ConfigError, LinkError

_State = tuple[int, ...]
_Mark = tuple[Connection, tuple[_State, ...]]
_Made = TypeVar("_Made")

CHECK_SECONDS = 1.0  # between checks, however often `renew` is called
RETRY_SECONDS = 5.0  # after a client could not be made


class ClientRenewal:
    """Remembers what a client was made with; `say` gets each reason for a failed renewal once."""

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
        self._next_check = clock() + CHECK_SECONDS
        self._used: _Mark | None = self._state_now()
        self._seen = self._used
        self._lock = threading.Lock()

    def renew(self, make: Callable[[], _Made]) -> _Made | None:
        """What `make` makes with new secrets; None while the secrets are the same.

        None also when `make` fails, as with a certificate that does not match its key: the old
        client is better than none. The next attempt is a little later.
        """
        if not self._is_due():
            return None
        try:
            made = make()
        except (ConfigError, LinkError) as error:
            self._used, self._next_check = None, self._clock() + RETRY_SECONDS
            sentence = f"{error.sentence()} Until then the previous client is used."
            if sentence != self._said:
                self._say(sentence)
            self._said = sentence
            return None
        self._said = ""
        return made

    def _is_due(self) -> bool:
        """Whether secrets are new, and have not changed since the last check.

        Certificate and key are two files, which are written one after the other.
        """
        with self._lock:
            now = self._clock()
            if now < self._next_check:
                return False
            is_late = now > self._next_check + CHECK_SECONDS
            self._next_check = now + CHECK_SECONDS
            before, self._seen = self._seen, self._state_now()
            if is_late and self._seen != before:
                # After a long time without a check, do not return while an old secret is in use.
                time.sleep(CHECK_SECONDS)
                before, self._seen = self._seen, self._state_now()
            if self._seen == self._used or self._seen != before:
                return False
            self._used = self._seen
            return True

    def _state_now(self) -> _Mark:
        now = self._connection.renewed()
        lines = (now.properties, now.java, now.python)
        files = {file for values in lines for file in _files(values)}
        return now, tuple(_state(file) for file in sorted(files))


def _files(values: Mapping[str, str]) -> Iterator[str]:
    """The files that properties and the options of the login name: both clients read them when
    they are made."""
    login = parse_login(values.get(LOGIN, ""))
    for name, value in (*values.items(), *(login.options.items() if login else ())):
        if name.endswith(LOCATION):
            yield value


def _state(file: str) -> _State:
    """What differs after a change of the file or its permissions."""
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode, found.st_uid)
