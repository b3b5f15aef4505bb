"""Certificates of our authority mean what they say to those who check them: here OpenSSL."""

from __future__ import annotations

import ssl
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from evergrid.broker.certificate_authority import CertificateAuthority, IssuedCertificate, make_key

PAST = datetime.now(UTC) - timedelta(days=1)
Files = Callable[[IssuedCertificate], Path]


@pytest.fixture(scope="module")
def authority() -> CertificateAuthority:
    return CertificateAuthority()


@pytest.fixture(scope="module")
def key() -> RSAPrivateKey:
    return make_key()


@pytest.fixture
def write(tmp_path: Path) -> Files:
    return lambda certificate: certificate.write(tmp_path / f"{id(certificate)}.pem")


def shake(server: ssl.SSLContext, client: ssl.SSLContext, host: str = "127.0.0.1") -> None:
    """A TLS handshake without a network; ssl.SSLError from the side that does not like it."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        client.wrap_bio(to_client, to_server, server_hostname=host),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    done: set[int] = set()
    for _ in range(6):  # turns; TLS 1.3 needs two
        for index, end in enumerate(ends):
            try:
                end.do_handshake() if index not in done else end.read(1)
                done.add(index)
            except ssl.SSLWantReadError:
                continue
    assert done == {0, 1}


def serving(file: Path, clients_of: CertificateAuthority | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    if clients_of:
        context.load_verify_locations(cadata=clients_of.pem)
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


def trusting(authority: CertificateAuthority, own: Path | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=authority.pem)
    context.verify_flags |= ssl.VERIFY_X509_STRICT  # as newer Pythons have by themselves
    if own:
        context.load_cert_chain(own)
    return context


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_who_trusts_the_authority_trusts_its_server(
    authority: CertificateAuthority, key: RSAPrivateKey, write: Files, host: str
) -> None:
    shake(serving(write(authority.server(key=key))), trusting(authority), host)


def test_but_not_under_another_name(
    authority: CertificateAuthority, key: RSAPrivateKey, write: Files
) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake(serving(write(authority.server(key=key))), trusting(authority), "example.com")


def test_nor_when_it_has_expired(
    authority: CertificateAuthority, key: RSAPrivateKey, write: Files
) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="certificate has expired"):
        shake(serving(write(authority.server(PAST, key))), trusting(authority))


def test_nor_one_that_another_authority_signed(
    authority: CertificateAuthority, key: RSAPrivateKey, write: Files
) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="unable to get local issuer"):
        shake(serving(write(authority.server(key=key))), trusting(CertificateAuthority()))


def test_clients_are_certified_too(
    authority: CertificateAuthority, key: RSAPrivateKey, write: Files
) -> None:
    server = serving(write(authority.server(key=key)), clients_of=authority)
    shake(server, trusting(authority, write(authority.client("anna"))))
    with pytest.raises(ssl.SSLError, match="certificate has expired"):
        shake(server, trusting(authority, write(authority.client("anna", PAST))))
    with pytest.raises(ssl.SSLError, match="PEER_DID_NOT_RETURN_A_CERTIFICATE"):
        shake(server, trusting(authority))
    with pytest.raises(ssl.SSLError, match="unsuitable certificate purpose"):
        shake(server, trusting(authority, write(authority.server(key=key))))


def test_nobody_else_can_read_the_key(
    authority: CertificateAuthority, key: RSAPrivateKey, tmp_path: Path
) -> None:
    file = tmp_path / "server.pem"
    file.write_text("an earlier one")
    file.chmod(0o644)
    authority.server(key=key).write(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "an earlier one" not in file.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["server.pem"]
    assert str(key.private_numbers().p) not in repr(key)
