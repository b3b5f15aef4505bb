from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.certificates import self_signed

from evergrid.kafka.certificates import read_certificate
from evergrid.kafka.secured.authority import Authority


def test_one_that_openssl_made(tmp_path: Path) -> None:
    file = tmp_path / "long.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "20000"]
    make += ["-subj", "/C=DE/O=Müller & Söhne/OU=Grid/CN=grid.example.com"]
    make += ["-keyout", str(tmp_path / "key"), "-out", str(file), "-utf8"]
    subprocess.run(make, check=True, capture_output=True)
    found = read_certificate(file.read_text())
    assert found is not None
    assert found.subject == "CN=grid.example.com,OU=Grid,O=Müller & Söhne,C=DE"
    away = found.ends - datetime.now(UTC) - timedelta(days=20000)
    assert abs(away) < timedelta(minutes=10)


def test_the_first_of_a_chain_behind_a_key_counts() -> None:
    authority, until = Authority(), datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
    made = authority.client("anna", until)
    found = read_certificate(made.key.pem() + made.pem + authority.pem)
    assert found is not None
    assert (found.subject, found.ends) == ("CN=anna", until)


@pytest.mark.parametrize("cut", [30, 100, 130])
def test_what_is_no_certificate_is_none(tmp_path: Path, cut: int) -> None:
    text = self_signed(tmp_path).certificate.read_text()
    lines = text.splitlines()
    broken = "\n".join((lines[0], "".join(lines[1:-1])[:cut], lines[-1]))
    assert read_certificate(broken) is None
    assert read_certificate(text[:cut]) is None
    assert read_certificate("") is None
