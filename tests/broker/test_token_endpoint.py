"""The token endpoint gives tokens to its clients alone, and anyone can check them."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from evergrid.broker.certificate_authority import CertificateAuthority
from evergrid.broker.loopback_ports import free_port
from evergrid.broker.token_endpoint import TokenEndpoint

# The prefix of a SHA-256 digest in an RS256 signature (RFC 8017, 9.2).
DIGEST = bytes.fromhex("3031300d060960864801650304020105000420")


@pytest.fixture(scope="module")
def authority() -> CertificateAuthority:
    return CertificateAuthority()


@pytest.fixture(scope="module")
def shared(
    authority: CertificateAuthority, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TokenEndpoint]:
    file = authority.server().write(tmp_path_factory.mktemp("tokens") / "tokens.pem")
    endpoint = TokenEndpoint(file, free_port(), {"anna": "her secret"})
    yield endpoint
    endpoint.stop()


@pytest.fixture
def endpoint(shared: TokenEndpoint) -> TokenEndpoint:
    shared.start()
    shared.lifetime = 60.0
    shared.issued.clear()
    shared.refused.clear()
    shared.scopes.clear()
    return shared


def ask(
    endpoint: TokenEndpoint,
    authority: CertificateAuthority,
    login: str = "anna:her secret",
    **form: str,
) -> tuple[int, dict[str, Any]]:
    data = urllib.parse.urlencode({"grant_type": "client_credentials", "scope": "kafka", **form})
    basic = base64.b64encode(login.encode()).decode()
    return fetch(
        urllib.request.Request(
            endpoint.url, data.encode(), {"Authorization": f"Basic {basic}"}, method="POST"
        ),
        authority,
    )


def fetch(
    request: urllib.request.Request, authority: CertificateAuthority
) -> tuple[int, dict[str, Any]]:
    context = ssl.create_default_context(cadata=authority.pem)
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
    try:
        with opener.open(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def claims_of(token: str, keys: dict[str, Any]) -> dict[str, Any]:
    """The claims of a token whose signature is that of a published key."""
    header, claims, signature = token.split(".")
    kid = json.loads(decoded(header))["kid"]
    (key,) = (key for key in keys["keys"] if key["kid"] == kid)
    modulus, exponent = (int.from_bytes(decoded(key[name]), "big") for name in ("n", "e"))
    block = pow(int.from_bytes(decoded(signature), "big"), exponent, modulus)
    digest = hashlib.sha256(f"{header}.{claims}".encode()).digest()
    size = (modulus.bit_length() + 7) // 8
    padding = b"\xff" * (size - 3 - len(DIGEST) - len(digest))
    assert block.to_bytes(size, "big") == b"\x00\x01" + padding + b"\x00" + DIGEST + digest
    found: dict[str, Any] = json.loads(decoded(claims))
    return found


def test_a_client_gets_a_token_that_the_published_keys_confirm(
    endpoint: TokenEndpoint, authority: CertificateAuthority
) -> None:
    status, answer = ask(endpoint, authority)
    assert (status, answer["token_type"], answer["expires_in"]) == (200, "Bearer", 60)
    _, keys = fetch(urllib.request.Request(endpoint.keys_url), authority)
    claims = claims_of(answer["access_token"], keys)
    assert (claims["sub"], claims["aud"], claims["scope"]) == ("anna", "kafka", "kafka")
    assert claims["iss"] == endpoint.issuer
    assert claims["iat"] <= time.time() < claims["exp"] <= time.time() + 60
    assert endpoint.issued == {"anna": 1}


@pytest.mark.parametrize("login", ["anna:wrong", "anna:", "bob:her secret", ":", "", "é:é"])
def test_nobody_else_gets_one(
    endpoint: TokenEndpoint, authority: CertificateAuthority, login: str
) -> None:
    assert ask(endpoint, authority, login) == (401, {"error": "invalid_client"})
    assert not endpoint.issued
    assert endpoint.refused.total() == 1


def test_nor_for_another_scope_or_by_another_grant(
    endpoint: TokenEndpoint, authority: CertificateAuthority
) -> None:
    for scope in ("all", ""):
        assert ask(endpoint, authority, scope=scope) == (400, {"error": "invalid_scope"})
    assert endpoint.scopes == {("anna", "all"): 1, ("anna", ""): 1}
    answer = ask(endpoint, authority, grant_type="password")
    assert answer == (400, {"error": "unsupported_grant_type"})


def test_a_token_may_have_expired_already(
    endpoint: TokenEndpoint, authority: CertificateAuthority
) -> None:
    endpoint.lifetime = -30.0
    _, answer = ask(endpoint, authority)
    claims = claims_of(answer["access_token"], endpoint.keys())
    assert claims["iat"] < claims["exp"] <= time.time() - 29


def test_it_can_be_away_and_come_back(
    endpoint: TokenEndpoint, authority: CertificateAuthority
) -> None:
    endpoint.stop()
    with pytest.raises(urllib.error.URLError, match="refused"):
        ask(endpoint, authority)
    endpoint.start()
    assert ask(endpoint, authority)[0] == 200


def test_a_silent_or_confused_client_is_in_nobodys_way(
    endpoint: TokenEndpoint, authority: CertificateAuthority, capfd: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(1)
    context = ssl.create_default_context(cadata=authority.pem)
    address = ("127.0.0.1", endpoint.port)
    with socket.create_connection(address), socket.create_connection(address) as plain:
        plain.sendall(b"POST /token HTTP/1.1\r\n\r\n")  # without TLS
        for _ in range(50):
            said = bytes(chance.choices(b"POST /token HTTP/1.1\r\n:;=%&\x00\xff9", k=80))
            with context.wrap_socket(
                socket.create_connection(address), server_hostname="localhost"
            ) as one:
                one.sendall(said + b"\r\n\r\n")
        assert ask(endpoint, authority)[0] == 200
    assert ask(endpoint, authority, "anna:her secret", more="x" * 20_000)[0] == 400
    assert capfd.readouterr() == ("", "")
