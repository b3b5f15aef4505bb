"""The keys of a running gateway, reloaded when their file changes."""

from __future__ import annotations

import asyncio
import datetime
import hmac
import time
from collections.abc import Callable
from pathlib import Path

from evergrid.config.problems import ConfigProblems
from evergrid.gateway.access.access_key import AccessKey, hashed
from evergrid.gateway.access.audit_log import AuditEvent
from evergrid.gateway.access.file_stamp import file_stamp
from evergrid.gateway.access.key_file import KeyFile, read_keys
from evergrid.gateway.access.key_usage import SAVE_SECONDS, KeyUsage
from evergrid.gateway.access.request_error import RequestError
from evergrid.model.errors import ConfigError
from evergrid.protocol.error_codes import Code

CHECK_SECONDS = 1.0  # a removed key is rejected this soon, at the cost of one stat() a second

_ASK = "Ask for a new one (evergrid key create NAME)."
_KEPT = "Until then the keys read before stay valid."

Changed = Callable[[AuditEvent, str, str], None]  # what happened to which key, and why


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class KeyRegistry:
    """Finds keys by their secrets; ConfigError at the start if there are none.

    If the file becomes invalid later, the last valid keys stay, and `report` is called once. A
    valid file without keys is accepted: somebody has removed the last one on purpose. `changed` is
    called for every key that is added, removed, changed or expires.
    """

    def __init__(
        self,
        path: Path,
        report: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime.datetime] = _now,
        changed: Changed = lambda *_: None,
    ) -> None:
        self._path = path
        self._report = report
        self._clock = clock
        self._now = now
        self._changed = changed
        self._usage = KeyUsage(path, report)
        self._stamp = file_stamp(path)
        self._checked = clock()
        self._reported: tuple[str, ...] = ()
        self._by_name: dict[str, AccessKey] = {}
        self._by_hash: dict[str, AccessKey] = {}  # also by the secret before a rotation
        self._load(read_keys(path))
        self._expired = self._expired_now()
        if not self._by_name:
            raise ConfigError(
                "the key file has no keys, so nobody could log in",
                where=str(path),
                remedy="Create one: evergrid key create NAME.",
            )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    async def watch(self) -> None:
        """Notice changes also while nobody uses a key, and keep the last uses, until cancelled."""
        saved = time.monotonic()
        try:
            while True:
                await asyncio.sleep(CHECK_SECONDS)
                self._reload()
                if time.monotonic() - saved >= SAVE_SECONDS:
                    saved = time.monotonic()
                    used, hashes = self._usage.take(), tuple(self._by_hash)
                    await asyncio.to_thread(self._usage.save, used, hashes)
        finally:
            self._usage.save(self._usage.take(), tuple(self._by_hash))

    def find(self, secret: str) -> AccessKey:
        """The key with this secret; RequestError if there is none, or it has expired.

        Every hash is compared, each in constant time, so that the duration tells nothing about
        the keys.
        """
        self._reload()
        digest = hashed(secret)
        found: AccessKey | None = None
        for key in self._by_hash.values():
            if hmac.compare_digest(key.hash, digest):
                found = key
        if found is None:
            what = "authentication failed: unknown key. Check that all of it was copied"
            raise RequestError(Code.BAD_KEY, what, remedy=_ASK)
        return self._unless_expired(found)

    def current(self, key: AccessKey) -> AccessKey:
        """`key`, found before, with the rights it has now; RequestError if it is not valid now.

        A key that was removed and created again under the same name is a different key.
        """
        self._reload()
        now = self._by_hash.get(key.hash)
        if now is None or now.name != key.name:
            what = "authentication failed: this key was removed"
            raise RequestError(Code.BAD_KEY, what, remedy=_ASK)
        return self._unless_expired(now)

    def _unless_expired(self, key: AccessKey) -> AccessKey:
        now = self._now()
        if key.expires is None or not key.expired(now):
            self._usage.times[key.hash] = now
            return key
        since = key.expires.isoformat(timespec="seconds")
        raise RequestError(Code.KEY_EXPIRED, f"key expired at {since}", remedy=_ASK, key=key.name)

    def _reload(self) -> None:
        now = self._clock()
        if now - self._checked < CHECK_SECONDS:
            return
        self._checked = now
        self._tell_expired()
        found = file_stamp(self._path)
        if found == self._stamp:
            return
        # Noted before reading: a write during the read changes it again.
        self._stamp = found
        before = self._by_name
        try:
            self._load(read_keys(self._path))
            self._tell_changes(before)
        except ConfigProblems as error:
            self._report_new(tuple(f"{p.sentence()} {_KEPT}" for p in error.problems))
        except ConfigError as error:
            self._report_new((f"{error.sentence()} {_KEPT}",))

    def _load(self, file: KeyFile) -> None:
        self._by_name = {key.name: key for key in file.keys}
        previous = [old for key in file.keys if (old := key.previous())]
        self._by_hash = {key.hash: key for key in (*previous, *file.keys)}
        self._report_new(file.warnings)

    def _tell_changes(self, before: dict[str, AccessKey]) -> None:
        for name in before.keys() - self._by_name.keys():
            self._changed(AuditEvent.KEY_REMOVED, name, "")
        for name, key in self._by_name.items():
            if name not in before:
                self._changed(AuditEvent.KEY_ADDED, name, "")
            elif key.hash != before[name].hash:
                self._changed(AuditEvent.KEY_ROTATED, name, "")
            elif key != before[name]:
                self._changed(AuditEvent.KEY_CHANGED, name, "")

    def _tell_expired(self) -> None:
        expired = self._expired_now()
        for digest in expired - self._expired:
            key = self._by_hash[digest]
            is_previous = self._by_name[key.name].hash != digest
            reason = "previous secret" if is_previous else ""
            self._changed(AuditEvent.KEY_EXPIRED, key.name, reason)
        self._expired = expired

    def _expired_now(self) -> set[str]:
        now = self._now()
        return {digest for digest, key in self._by_hash.items() if key.expired(now)}

    def _report_new(self, sentences: tuple[str, ...]) -> None:
        for sentence in sentences:
            if sentence not in self._reported:
                self._report(sentence)
        self._reported = sentences
