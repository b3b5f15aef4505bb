"""A certificate authority for the demo and the tests, made with the package `cryptography`.

It lives in memory: each start has a new authority and new certificates. They are good for this
machine and a trial, not for a cluster that others reach. `cryptography` comes with the extra
`demo-security`: a plain installation lacks it, so only the secured broker may import this module.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from evergrid.process.private_directory import write_secret

_Extension = tuple[x509.ExtensionType, bool]  # and whether it is critical

LOOPBACK = ("127.0.0.1", "localhost")

_KEY_BITS = 2048
_EXPONENT = 65537
_LIFETIME = timedelta(days=30)
_CLOCK_SKEW = timedelta(hours=1)
_USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
    *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)


class IssuedCertificate(msgspec.Struct, frozen=True):
    """A certificate and its private key."""

    pem: str
    key: RSAPrivateKey

    @property
    def key_pem(self) -> str:
        """The key as PKCS #8, the one form that Java, OpenSSL and Python all read."""
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()

    def write(self, path: Path) -> Path:
        """Write key and certificate to one file, as Java wants them."""
        return write_secret(path, self.key_pem + self.pem)


def make_key() -> RSAPrivateKey:
    """A new key, for a certificate or for the signatures of tokens."""
    return generate_private_key(_EXPONENT, _KEY_BITS)


class CertificateAuthority:
    """Issues certificates; clients that trust them need `pem`."""

    def __init__(self, name: str = "Evergrid demo authority") -> None:
        self._name = name
        self._key = make_key()
        self.pem = self._sign(
            name,
            self._key,
            None,
            (x509.BasicConstraints(ca=True, path_length=None), True),
            (_key_usage("key_cert_sign", "crl_sign"), True),
        )

    def write(self, path: Path) -> Path:
        path.write_text(self.pem)
        return path

    def server(
        self,
        until: datetime | None = None,
        key: RSAPrivateKey | None = None,
        *,
        name: str = "localhost",
        hosts: Sequence[str] = LOOPBACK,
    ) -> IssuedCertificate:
        """A certificate for a server; it has expired already when `until` is in the past."""
        names = x509.SubjectAlternativeName(map(_host, hosts))
        return self._issue(name, ExtendedKeyUsageOID.SERVER_AUTH, until, key, (names, False))

    def client(self, name: str, until: datetime | None = None) -> IssuedCertificate:
        return self._issue(name, ExtendedKeyUsageOID.CLIENT_AUTH, until, None)

    def _issue(
        self,
        name: str,
        purpose: x509.ObjectIdentifier,
        until: datetime | None,
        key: RSAPrivateKey | None,
        *more: _Extension,
    ) -> IssuedCertificate:
        key = key or make_key()
        pem = self._sign(
            name,
            key,
            until,
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (_key_usage("digital_signature", "key_encipherment"), True),
            (x509.ExtendedKeyUsage([purpose]), False),
            *more,
        )
        return IssuedCertificate(pem, key)

    def _sign(
        self, name: str, key: RSAPrivateKey, until: datetime | None, *extensions: _Extension
    ) -> str:
        """The PEM of a certificate."""
        now = datetime.now(UTC)
        end = until or now + _LIFETIME
        builder = (
            x509.CertificateBuilder()
            .subject_name(_common_name(name))
            .issuer_name(_common_name(self._name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(min(now, end) - _CLOCK_SKEW)
            .not_valid_after(end)
        )
        issuer_key = self._key.public_key()
        for extension, critical in (
            *extensions,
            (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), False),
        ):
            builder = builder.add_extension(extension, critical)
        signed = builder.sign(self._key, hashes.SHA256())
        return signed.public_bytes(serialization.Encoding.PEM).decode()


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _key_usage(*allowed: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{usage: usage in allowed for usage in _USAGES})


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
