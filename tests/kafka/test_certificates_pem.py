"""Certificates and keys that were made one line of are read by both clients."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from tests.certificates import self_signed

from evergrid.config.settings import Connection
from evergrid.kafka.certificates import restore_line_breaks
from evergrid.kafka.properties import java_properties, python_properties

WAYS: dict[str, Callable[[str], str]] = {
    "blanks": lambda text: " ".join(text.split("\n")),
    "nothing": lambda text: text.replace("\n", ""),
    "letters": lambda text: text.replace("\n", "\\n"),
    "more blanks": lambda text: text.replace("\n", "\n    "),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_inline_reaches_both_clients_whole(tmp_path: Path, way: str) -> None:
    files = self_signed(tmp_path, "me")
    key, certificate = (file.read_text().strip() for file in (files.key, files.certificate))
    chain = f"{certificate}\n{certificate}"
    given = Connection(
        "source",
        "broker:9092",
        {
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": WAYS[way](chain),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": WAYS[way](key),
            "ssl.keystore.certificate.chain": WAYS[way](chain),
        },
    )
    found = python_properties(given)
    Consumer({**found, "group.id": "x", "log_level": 0}).close()
    assert len(ssl.create_default_context(cadata=found["ssl.ca.pem"]).get_ca_certs()) == 1
    assert found["ssl.ca.pem"] == found["ssl.certificate.pem"] == chain
    assert found["ssl.key.pem"] == key
    java = java_properties(given)
    assert java["ssl.truststore.certificates"] == java["ssl.keystore.certificate.chain"] == chain
    assert java["ssl.keystore.key"] == key


def test_the_python_clients_own_words_too() -> None:
    flat = "-----BEGIN X----- AAAA -----END X-----"
    given = Connection("source", "b:1", python={"ssl.ca.pem": flat, "client.id": flat})
    found = python_properties(given)
    assert found["ssl.ca.pem"] == flat.replace(" ", "\n").replace("BEGIN\n", "BEGIN ").replace(
        "END\n", "END "
    )
    assert found["client.id"] == flat


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no PEM",
        "-----BEGIN",
        "-----BEGIN X-----\nAAAA\n-----END X-----\n",
        "words\n-----BEGIN X-----\r\nAAAA\r\n-----END X-----\r\n\r\nmore words\n",
        "-----BEGIN RSA PRIVATE KEY----- Proc-Type: 4,ENCRYPTED AAAA -----END RSA PRIVATE KEY-----",
    ],
)
def test_what_is_whole_or_something_else_stays_as_it_is(text: str) -> None:
    assert restore_line_breaks(text) == text
