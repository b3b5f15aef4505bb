from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.certificates import self_signed

from evergrid.broker.certificate_authority import CertificateAuthority
from evergrid.kafka.certificates import read_certificate

# openssl req -x509 -utf8 -days 20000 -subj "/C=DE/O=Müller & Söhne/OU=Grid/CN=grid.example.com" …
BY_OPENSSL = """\
-----BEGIN CERTIFICATE-----
MIIB+zCCAaGgAwIBAgIUU9WHdqMYLXaebbSTISFqW+TEHPowCgYIKoZIzj0EAwIw
UjELMAkGA1UEBhMCREUxGTAXBgNVBAoMEE3DvGxsZXIgJiBTw7ZobmUxDTALBgNV
BAsMBEdyaWQxGTAXBgNVBAMMEGdyaWQuZXhhbXBsZS5jb20wIBcNMjYxMTE2MTUz
NjIwWhgPMjA4MTA4MTkxNTM2MjBaMFIxCzAJBgNVBAYTAkRFMRkwFwYDVQQKDBBN
w7xsbGVyICYgU8O2aG5lMQ0wCwYDVQQLDARHcmlkMRkwFwYDVQQDDBBncmlkLmV4
YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEFNGJUffdG+DoiwTv
4g3CVJJdX1JpHUV2nsFosHLKdTpy44lAtn7eUShC5LWgdNw3osFQWN9Q5sDufSLo
+06Qb6NTMFEwHQYDVR0OBBYEFP7J6IMGIBJLn+rHPnyGPt9KZlzzMB8GA1UdIwQY
MBaAFP7J6IMGIBJLn+rHPnyGPt9KZlzzMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZI
zj0EAwIDSAAwRQIhAPoMreZ3B25ETfwkYofU6uu4xK4O4GxPRFA6oW3+i7AlAiBi
QmjnaCBVUI0k8PDKCV5/glMu6RfsWrE/rU3v0k574A==
-----END CERTIFICATE-----
"""


def test_one_that_openssl_made() -> None:
    found = read_certificate(BY_OPENSSL)
    assert found is not None
    assert found.subject == "CN=grid.example.com,OU=Grid,O=Müller & Söhne,C=DE"
    assert found.expires == datetime(2081, 8, 19, 15, 36, 20, tzinfo=UTC)


def test_the_first_of_a_chain_behind_a_key_counts() -> None:
    authority, until = CertificateAuthority(), datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
    made = authority.client("anna", until)
    found = read_certificate(made.key_pem + made.pem + authority.pem)
    assert found is not None
    assert (found.subject, found.expires) == ("CN=anna", until)


@pytest.mark.parametrize("cut", [30, 100, 130])
def test_what_is_no_certificate_is_none(tmp_path: Path, cut: int) -> None:
    text = self_signed(tmp_path).certificate.read_text()
    lines = text.splitlines()
    broken = "\n".join((lines[0], "".join(lines[1:-1])[:cut], lines[-1]))
    assert read_certificate(broken) is None
    assert read_certificate(text[:cut]) is None
    assert read_certificate("") is None
