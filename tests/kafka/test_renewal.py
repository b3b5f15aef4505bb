from __future__ import annotations

import os
from pathlib import Path

from evergrid.config import load
from evergrid.config.settings import Connection
from evergrid.kafka.renewal import Renewal


def test_a_rotated_secret_is_noticed_once(tmp_path: Path) -> None:
    secret, file = tmp_path / "secret", tmp_path / "evergrid.yaml"
    secret.write_text("first")
    file.write_text("kafka: {properties: {client.id: '${file:secret}'}}\n")
    renewal = Renewal(load(file, {}).kafka.source)
    assert not renewal.is_due()
    secret.write_text("second")
    assert renewal.is_due()
    assert not renewal.is_due()


def test_a_new_file_under_the_same_name_is_noticed(tmp_path: Path) -> None:
    certificate = tmp_path / "me.pem"
    renewal = Renewal(Connection("source", "b:1", {"ssl.keystore.location": str(certificate)}))
    assert not renewal.is_due()
    certificate.write_text("one")
    assert renewal.is_due()
    (tmp_path / "new").write_text("two")
    os.replace(tmp_path / "new", certificate)
    assert renewal.is_due()
    assert not renewal.is_due()
