from __future__ import annotations

from pathlib import Path

import pytest

from evergrid.broker.certificate_authority import CertificateAuthority
from evergrid.config.settings import Connection
from evergrid.kafka.identity import scrub, where

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
SASL = {"security.protocol": "SASL_SSL"}


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({}, ""),
        ({"security.protocol": "SSL"}, ", SSL"),
        (
            {
                **SASL,
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": f"{PLAIN} required username=ann password=hush;",
            },
            ", SASL_SSL, PLAIN, user ann",
        ),
        (
            {
                **SASL,
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.jaas.config": f"{OAUTH} required clientId=grid clientSecret=hush;",
            },
            ", SASL_SSL, OAUTHBEARER, client grid",
        ),
        (
            {
                "security.protocol": "SSL",
                "ssl.keystore.type": "PKCS12",
                "ssl.keystore.location": "/me.p12",
                "ssl.keystore.password": "hush",
            },
            ", SSL, certificate /me.p12",
        ),
        ({"security.protocol": "SASL_SSL", "max.poll.records": "1"}, ", SASL_SSL"),
    ],
)
def test_sentences_say_who_and_how(properties: dict[str, str], words: str) -> None:
    connection = Connection("source", "b:1", properties)
    assert where(connection) == f"Kafka connection source (b:1{words})"


def test_a_certificates_owner_is_named(tmp_path: Path) -> None:
    file = CertificateAuthority().client("grid").write(tmp_path / "me.pem")
    properties = {
        "security.protocol": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(file),
    }
    assert "SSL, certificate of CN=grid" in where(Connection("source", "b:1", properties))


@pytest.mark.parametrize(
    "connection",
    [
        Connection("source", "b:1", secrets=frozenset({"hush-hush"})),
        Connection("source", "b:1", python={"sasl.password": "hush-hush"}),
        Connection("source", "b:1", java={"ssl.keystore.key": "hush-hush"}),
        Connection(
            "source",
            "b:1",
            {"sasl.jaas.config": f'{PLAIN} required username=ann password="hush-hush";'},
        ),
        Connection(
            "source", "b:1", {"sasl.jaas.config": f"{OAUTH} required clientSecret='hush-hush';"}
        ),
        # The password is `one"hush-hush`: Java quotes a piece of what it cannot read.
        Connection(
            "source",
            "b:1",
            java={"sasl.jaas.config": f'{PLAIN} required password="one"hush-hush";'},
        ),
    ],
)
def test_no_text_keeps_a_secret_however_it_was_written(connection: Connection) -> None:
    assert scrub(connection, "ann said hush-hush to them") == "ann said *** to them"


def test_what_was_rotated_is_hidden_before_and_after(tmp_path: Path) -> None:
    from evergrid.config import load

    secret, file = tmp_path / "secret", tmp_path / "evergrid.yaml"
    secret.write_text("first-one")
    file.write_text("kafka: {properties: {client.id: '${file:secret}'}}\n")
    source = load(file, {}).kafka.source
    secret.write_text("second-one")
    assert scrub(source, "first-one, second-one") == "***, ***"
