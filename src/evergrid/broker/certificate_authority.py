"""A small certificate authority, for the demo and for tests: its word counts on this machine alone.

It lives in memory: who starts the demo again gets a new authority and new certificates.
"""

from __future__ import annotations

import enum
import hashlib
import ipaddress
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from evergrid.broker import der
from evergrid.broker.rsa import RsaKey, make_key
from evergrid.broker.secret_files import write_secret

HERE = ("127.0.0.1", "localhost")

_SIGNATURE = der.sequence(der.oid("1.2.840.113549.1.1.11"), der.null())  # SHA-256 with RSA
_COMMON_NAME = der.oid("2.5.4.3")
_BASIC_CONSTRAINTS = "2.5.29.19"
_KEY_USAGE = "2.5.29.15"
_EXTENDED_KEY_USAGE = "2.5.29.37"
_SUBJECT_NAMES = "2.5.29.17"
_SUBJECT_KEY = "2.5.29.14"
_AUTHORITY_KEY = "2.5.29.35"
_SIGNS_CERTIFICATES = der.bit_string(b"\x06", 1)
_SIGNS_AND_ENCIPHERS = der.bit_string(b"\xa0", 5)

_DNS, _ADDRESS = 2, 7  # kinds of names
_VALID = timedelta(days=30)
_BEFORE = timedelta(hours=1)  # clocks differ


class Purpose(enum.Enum):
    """What a certificate is shown for."""

    SERVER = "1.3.6.1.5.5.7.3.1"
    CLIENT = "1.3.6.1.5.5.7.3.2"


class Certificate(msgspec.Struct, frozen=True):
    """A certificate with the key that it speaks for."""

    pem: str
    key: RsaKey

    def write(self, path: Path) -> Path:
        """Key and certificate in one file, as Java wants them and everybody else can read."""
        return write_secret(path, self.key.pem() + self.pem)


class Authority:
    """Signs certificates; `pem` is what those must have who are to believe them."""

    def __init__(self, name: str = "Evergrid demo authority") -> None:
        self._name = name
        self._key = make_key()
        self.pem = self._sign(
            name,
            self._key,
            datetime.now(UTC) + _VALID,
            (
                _extension(_BASIC_CONSTRAINTS, der.sequence(der.boolean(True)), critical=True),
                _extension(_KEY_USAGE, _SIGNS_CERTIFICATES, critical=True),
            ),
        )

    def write(self, path: Path) -> Path:
        path.write_text(self.pem)
        return path

    def issue(
        self,
        name: str,
        purpose: Purpose,
        hosts: tuple[str, ...] = (),
        *,
        until: datetime | None = None,
        key: RsaKey | None = None,
    ) -> Certificate:
        """A certificate for `name`; one whose `until` is in the past was never valid today."""
        extensions = [
            _extension(_BASIC_CONSTRAINTS, der.sequence(), critical=True),
            _extension(_KEY_USAGE, _SIGNS_AND_ENCIPHERS, critical=True),
            _extension(_EXTENDED_KEY_USAGE, der.sequence(der.oid(purpose.value))),
        ]
        if hosts:
            extensions.append(_extension(_SUBJECT_NAMES, der.sequence(*map(_host, hosts))))
        key = key or make_key()
        end = until or datetime.now(UTC) + _VALID
        return Certificate(self._sign(name, key, end, tuple(extensions)), key)

    def server(self, until: datetime | None = None, key: RsaKey | None = None) -> Certificate:
        """For what listens on this machine's loopback."""
        return self.issue("localhost", Purpose.SERVER, HERE, until=until, key=key)

    def client(self, name: str, until: datetime | None = None) -> Certificate:
        return self.issue(name, Purpose.CLIENT, until=until)

    def _sign(self, name: str, key: RsaKey, end: datetime, extensions: tuple[bytes, ...]) -> str:
        begin = min(datetime.now(UTC), end) - _BEFORE
        known_by = (
            _extension(_SUBJECT_KEY, der.octet_string(_key_id(key))),
            _extension(_AUTHORITY_KEY, der.sequence(der.context(0, _key_id(self._key)))),
        )
        content = der.sequence(
            der.context(0, der.integer(2), constructed=True),  # version 3
            der.integer(secrets.randbits(120) | 1),
            _SIGNATURE,
            _called(self._name),
            der.sequence(der.time(begin), der.time(end)),
            _called(name),
            key.public(),
            der.context(3, der.sequence(*extensions, *known_by), constructed=True),
        )
        signature = der.bit_string(self._key.sign(content))
        return der.pem("CERTIFICATE", der.sequence(content, _SIGNATURE, signature))


def _called(name: str) -> bytes:
    return der.sequence(der.set_of(der.sequence(_COMMON_NAME, der.utf8(name))))


def _extension(kind: str, content: bytes, *, critical: bool = False) -> bytes:
    marks = (der.boolean(True),) if critical else ()
    return der.sequence(der.oid(kind), *marks, der.octet_string(content))


def _key_id(key: RsaKey) -> bytes:
    return hashlib.sha1(key.public_numbers(), usedforsecurity=False).digest()


def _host(host: str) -> bytes:
    try:
        return der.context(_ADDRESS, ipaddress.ip_address(host).packed)
    except ValueError:
        return der.context(_DNS, host.encode("idna"))
