"""An access key: its name, its rights and its lifetime, but never its secret."""

from __future__ import annotations

import datetime
import fnmatch
import hashlib
import secrets
from typing import Protocol

import msgspec

# Lets people and secret scanners recognise a key.
PREFIX = "eg_"
SECRET_BYTES = 32
EVERY_TABLE = ("*",)


class AccessKey(msgspec.Struct, frozen=True):
    """A name with rights; `hash` is the SHA-256 of the secret.

    After a rotation, the secret of `previous_hash` is valid too, until `previous_until`.
    """

    name: str
    hash: str
    tables: tuple[str, ...] = EVERY_TABLE
    control: bool = False
    created: datetime.datetime | None = None
    expires: datetime.datetime | None = None
    admin: bool = False
    previous_hash: str = ""
    previous_until: datetime.datetime | None = None

    def may_read(self, table: str) -> bool:
        return any(fnmatch.fnmatchcase(table, pattern) for pattern in self.tables)

    @property
    def may_read_all(self) -> bool:
        """Whether it may read every table, also one that there is not yet."""
        return "*" in self.tables

    def expired(self, now: datetime.datetime) -> bool:
        return self.expires is not None and now >= self.expires

    def previous(self) -> AccessKey | None:
        """The same key by its previous secret, which expires sooner; None if there is none."""
        if not self.previous_hash:
            return None
        ends = [end for end in (self.expires, self.previous_until) if end is not None]
        return msgspec.structs.replace(
            self,
            hash=self.previous_hash,
            expires=min(ends, default=None),
            previous_hash="",
            previous_until=None,
        )


class KeyFinder(Protocol):
    """Looks up keys; `current` is a key that was found before, with the rights it has now.

    RequestError if there is no valid one; it does not repeat the secret.
    """

    def find(self, secret: str) -> AccessKey: ...
    def current(self, key: AccessKey) -> AccessKey: ...


def new_secret() -> str:
    """A secret of 256 bits from the operating system's random source."""
    return PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def hashed(secret: str) -> str:
    """The hash that the key file keeps of a secret.

    One round is enough: salt and slow hashes protect passwords that people choose, and 256
    random bits cannot be guessed.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
