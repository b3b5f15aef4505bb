"""Secrets that are rotated are taken when they are all there, and harm nobody before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evergrid.broker.certificate_authority import CertificateAuthority
from evergrid.config import load
from evergrid.config.settings import Connection
from evergrid.kafka import clients
from evergrid.kafka.client_renewal import CHECK_SECONDS, RETRY_SECONDS, ClientRenewal
from evergrid.model.errors import ConfigError, LinkError
from evergrid.process.private_directory import write_secret


class Looks:
    """A renewal, asked at moments that the test decides on."""

    def __init__(self, connection: Connection) -> None:
        self.said: list[str] = []
        self.error: Exception | None = None
        self._now = 0.0
        self._renewal = ClientRenewal(connection, self.said.append, lambda: self._now)

    def at_once(self) -> bool:
        """Whether a new client is made now."""
        return self._renewal.renew(self._make) is not None

    def later(self, seconds: float = CHECK_SECONDS) -> bool:
        self._now += seconds
        return self.at_once()

    def _make(self) -> str:
        if self.error is not None:
            raise self.error
        return "a client"


def with_secret(folder: Path) -> tuple[Path, Connection]:
    """The file of a secret, `first`, and a connection that refers to it."""
    secret, file = folder / "secret", folder / "evergrid.yaml"
    secret.write_text("first")
    file.write_text("kafka: {properties: {client.id: '${file:secret}'}}\n")
    return secret, load(file, {}).kafka.source


def test_a_rotated_secret_is_taken_once(tmp_path: Path) -> None:
    secret, connection = with_secret(tmp_path)
    looks = Looks(connection)
    assert not looks.later()
    secret.write_text("second")
    assert [looks.later() for _ in range(4)] == [False, True, False, False]


def test_who_asks_after_a_long_time_gets_no_old_secret(tmp_path: Path) -> None:
    secret, connection = with_secret(tmp_path)
    looks = Looks(connection)
    assert not looks.later()
    secret.write_text("second")
    assert looks.later(3600.0)
    assert not looks.later(3600.0)


def test_a_secret_that_cannot_be_read_is_the_last_one_that_could(tmp_path: Path) -> None:
    secret, connection = with_secret(tmp_path)
    looks = Looks(connection)
    secret.write_text("second")
    assert [looks.later(), looks.later()] == [False, True]
    secret.unlink()
    assert connection.renewed().properties == {"client.id": "second"}
    assert [looks.later() for _ in range(3)] == [False] * 3
    secret.write_text("")
    assert connection.renewed().properties == {"client.id": "second"}


def test_files_are_taken_when_they_have_stood_still_for_two_looks(tmp_path: Path) -> None:
    certificate, key = tmp_path / "me.pem", tmp_path / "me.key"
    files = {"ssl.certificate.location": str(certificate), "ssl.key.location": str(key)}
    looks = Looks(Connection("source", "b:1", python=files))
    assert not looks.later()
    key.write_text("one")
    assert not looks.later()
    certificate.write_text("one")
    assert not looks.later()
    assert not looks.at_once(), "however often somebody asks"
    assert looks.later()
    (tmp_path / "new").write_text("two")
    os.replace(tmp_path / "new", certificate)
    assert [looks.later() for _ in range(4)] == [False, True, False, False]
    key.chmod(0o400)
    assert [looks.later() for _ in range(3)] == [False, True, False]


@pytest.mark.parametrize("option", ["ssl.truststore.location", "oauth.ssl.truststore.location"])
@pytest.mark.parametrize("java", [False, True])
def test_files_that_a_login_names_are_taken_too(tmp_path: Path, option: str, java: bool) -> None:
    trust = tmp_path / "trust.jks"
    line = f'x.OAuthBearerLoginModule required clientId="me" {option}="{trust}";'
    lines = {"sasl.jaas.config": line}
    given = Connection("source", "b:1", java=lines) if java else Connection("source", "b:1", lines)
    looks = Looks(given)
    assert not looks.later()
    trust.write_text("new")
    assert [looks.later() for _ in range(3)] == [False, True, False]


@pytest.mark.parametrize("kind", [ConfigError, LinkError])
def test_what_cannot_be_made_is_said_once_and_tried_again(
    tmp_path: Path, kind: type[ConfigError | LinkError]
) -> None:
    certificate = tmp_path / "me.pem"
    looks = Looks(Connection("source", "b:1", {"ssl.keystore.location": str(certificate)}))
    looks.error = kind("key values mismatch", remedy="Correct it.")
    certificate.write_text("half")
    assert [looks.later() for _ in range(3)] == [False, False, False]
    assert [looks.later(RETRY_SECONDS) for _ in range(3)] == [False, False, False]
    assert looks.said == [
        "key values mismatch. Correct it. Until then the previous client is used."
    ]
    looks.error = None
    assert [looks.later(RETRY_SECONDS) for _ in range(3)] == [True, False, False]


def test_settings_that_were_good_are_no_error_of_the_settings_later(tmp_path: Path) -> None:
    certificate, key = tmp_path / "me.pem", tmp_path / "me.key"
    files = {"ssl.certificate.location": str(certificate), "ssl.key.location": str(key)}
    connection = Connection("source", "b:1", {"security.protocol": "SSL"}, python=files)
    authority = CertificateAuthority()
    first, second = authority.client("me"), authority.client("me")
    certificate.write_text(first.pem)
    write_secret(key, second.key_pem)
    with pytest.raises(ConfigError, match="mismatch"):
        clients.admin(connection)
    write_secret(key, first.key_pem)
    clients.admin(connection)
    write_secret(key, second.key_pem)
    with pytest.raises(LinkError, match=r"mismatch.*reloaded automatically\."):
        clients.admin(connection)
    with pytest.raises(ConfigError, match="mismatch"):
        clients.consumer(connection)
    certificate.write_text(second.pem)
    clients.admin(connection)
    clients.consumer(connection)
