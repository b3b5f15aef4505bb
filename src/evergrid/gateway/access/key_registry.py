"""The live keys of a running gateway: asked at each login, up to date with their file."""

from __future__ import annotations

import datetime
import hmac
import time
from collections.abc import Callable
from pathlib import Path

from evergrid.config.problems import ConfigProblems
from evergrid.gateway.access.access_key import Key, KeyProblem, hashed
from evergrid.gateway.access.file_stamp import mark
from evergrid.gateway.access.key_file import KeyRing, read_keys
from evergrid.model.errors import ConfigError
from evergrid.protocol.codes import Code

__all__ = ["Key", "KeyProblem", "Keys"]

LOOK_SECONDS = 1.0  # a removed key is known to be so this soon, at one stat() a second

_UNKNOWN = KeyProblem(
    Code.BAD_KEY,
    "this key is not known here. Check that all of it was copied, or ask for a new one "
    "(evergrid key create NAME).",
)
_GONE = KeyProblem(
    Code.BAD_KEY, "this key was removed. Ask for a new one (evergrid key create NAME)."
)
_KEPT = "Until then the keys that were read before count."


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class Keys:
    """Finds keys by their secrets; ConfigError at the start when there is none to find.

    A file that goes bad later changes nothing: the last good one counts, and `report` is
    told once. A good file without keys counts: whoever removed the last one meant it.
    """

    def __init__(
        self,
        path: Path,
        report: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime.datetime] = _now,
    ) -> None:
        self._path = path
        self._report = report
        self._clock = clock
        self._now = now
        self._mark = mark(path)
        self._looked = clock()
        self._said: tuple[str, ...] = ()
        self._by_name: dict[str, Key] = {}
        self._take(read_keys(path))
        if not self._by_name:
            raise ConfigError(
                "there is no key, so nobody could log in",
                where=str(path),
                remedy="Make one: evergrid key create NAME.",
            )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def find(self, secret: str) -> Key | KeyProblem:
        """The key that `secret` proves.

        Every hash is compared, each in constant time, so that how long it takes tells
        nothing about the keys.
        """
        self._look()
        digest = hashed(secret)
        found: Key | None = None
        for key in self._by_name.values():
            if hmac.compare_digest(key.hash, digest):
                found = key
        return self._unless_expired(found) if found else _UNKNOWN

    def current(self, key: Key) -> Key | KeyProblem:
        """`key`, found before, with the rights it has now; the problem when it opens no more.

        A key that was removed and made again under its name is another one.
        """
        self._look()
        now = self._by_name.get(key.name)
        if now is None or not hmac.compare_digest(now.hash, key.hash):
            return _GONE
        return self._unless_expired(now)

    def still_good(self, name: str) -> bool:
        """Whether the key of this name can be used; `current` also sees a changed secret."""
        self._look()
        key = self._by_name.get(name)
        return key is not None and not key.expired(self._now())

    def _unless_expired(self, key: Key) -> Key | KeyProblem:
        if key.expires is None or not key.expired(self._now()):
            return key
        since = key.expires.isoformat(timespec="seconds")
        remedy = "Ask for a new one (evergrid key create NAME)."
        return KeyProblem(Code.KEY_EXPIRED, f"this key expired at {since}. {remedy}")

    def _look(self) -> None:
        now = self._clock()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        found = mark(self._path)
        if found == self._mark:
            return
        # Noted before reading: what is written while we read changes it again.
        self._mark = found
        try:
            self._take(read_keys(self._path))
        except ConfigProblems as error:
            self._say(tuple(f"{p.sentence()} {_KEPT}" for p in error.problems))
        except ConfigError as error:
            self._say((f"{error.sentence()} {_KEPT}",))

    def _take(self, ring: KeyRing) -> None:
        self._by_name = {key.name: key for key in ring.keys}
        self._say(ring.warnings)

    def _say(self, sentences: tuple[str, ...]) -> None:
        for sentence in sentences:
            if sentence not in self._said:
                self._report(sentence)
        self._said = sentences
