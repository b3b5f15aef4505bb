"""One key: who it belongs to, what it opens and until when; never its secret."""

from __future__ import annotations

import datetime
import fnmatch
import hashlib
import secrets

import msgspec

from evergrid.protocol.codes import Code

# Tells people and secret scanners what the text is that they have found.
PREFIX = "eg_"
SECRET_BYTES = 32
EVERY_TABLE = ("*",)


class Key(msgspec.Struct, frozen=True):
    """A name with rights; `hash` is the SHA-256 of the secret that proves it."""

    name: str
    hash: str
    tables: tuple[str, ...] = EVERY_TABLE
    control: bool = False
    created: datetime.datetime | None = None
    expires: datetime.datetime | None = None

    def may_read(self, table: str) -> bool:
        return any(fnmatch.fnmatchcase(table, pattern) for pattern in self.tables)

    def expired(self, now: datetime.datetime) -> bool:
        return self.expires is not None and now >= self.expires


class KeyProblem(msgspec.Struct, frozen=True):
    """Why a secret opens nothing; `message` is for the one who sent it, and does not repeat it."""

    code: Code
    message: str


def new_secret() -> str:
    """A secret of 256 bits from the system's secure source."""
    return PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def make_key(
    name: str,
    *,
    tables: tuple[str, ...] = EVERY_TABLE,
    control: bool = False,
    lifetime: datetime.timedelta | None = None,
) -> tuple[Key, str]:
    """A key that is good from now on, and the secret that proves it, which nobody keeps."""
    secret = new_secret()
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    expires = None if lifetime is None else now + lifetime
    return Key(name, hashed(secret), tables, control, created=now, expires=expires), secret


def hashed(secret: str) -> str:
    """What the key file keeps of a secret.

    One round is enough: salt and slow hashes protect words that people choose, and 256
    random bits are beyond guessing.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
