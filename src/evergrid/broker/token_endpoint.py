"""A token endpoint over HTTPS: who brings a client's id and secret gets a signed token.

It is for the demo and for tests alone, on loopback, and knows the one way in which programs
log in (OAuth 2.0's client credentials grant). Tokens are JWTs signed with RS256; the keys to
check them are published beside the endpoint, and the broker reads them there:

    POST /token    a token, for a client of ours that asks for a scope of ours
    GET  /keys     the key that tokens are signed with (a JWKS document)

Tests may change how it behaves while it runs: `lifetime` (negative gives tokens that have
expired already), `secrets`, and `stop()` and `start()` for one that is away for a while.
"""

from __future__ import annotations

import base64
import hmac
import http.server
import json
import secrets
import ssl
import threading
import time
import urllib.parse
from collections import Counter, deque
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

from evergrid.broker.certificate_authority import make_key
from evergrid.broker.listeners import Issuer
from evergrid.broker.loopback_ports import HOST

AUDIENCE = "kafka"
SCOPE = "kafka"
LIFETIME = 300.0  # seconds

_MOST_GIVEN = 1000
_MOST_BYTES = 16 * 1024  # of a request
_MOST_HEARD = 100_000
_WAIT_SECONDS = 10.0  # for what a client wants to say
_EXPIRED_AGE = 3600.0  # how long ago a token was made that has expired when it is given out


class TokenEndpoint:
    """Serves while started; `secrets` are the clients and theirs."""

    def __init__(self, certificate: Path, port: int, clients: Mapping[str, str]) -> None:
        self.port = port
        self.secrets = dict(clients)
        self.lifetime = LIFETIME
        self.issued: Counter[str] = Counter()  # client → tokens it was given
        self.refused: Counter[str] = Counter()  # client → requests of its that were refused
        self.scopes: Counter[tuple[str, str]] = Counter()  # client, scope → requests for it
        self.given: deque[str] = deque(maxlen=_MOST_GIVEN)  # the newest tokens themselves
        self._key = make_key()
        self._key_id = secrets.token_hex(8)
        self._certificate = certificate
        self._server: _Server | None = None

    @property
    def issuer(self) -> str:
        return f"https://{HOST}:{self.port}"

    @property
    def described(self) -> Issuer:
        """For the broker, which checks the tokens."""
        return Issuer(self.issuer, AUDIENCE, self.keys_url)

    @property
    def url(self) -> str:
        return f"{self.issuer}/token"

    @property
    def keys_url(self) -> str:
        return f"{self.issuer}/keys"

    def start(self) -> None:
        if self._server is None:
            self._server = _Server(self, self._certificate)

    def stop(self) -> None:
        """Answer nobody, as an endpoint that is down; what was given out stays good."""
        if self._server is not None:
            self._server.end()
            self._server = None

    def grant(self, client: str, secret: str, scope: str) -> tuple[HTTPStatus, dict[str, object]]:
        """What a client gets that asks for a token, and with which status."""
        known = self.secrets.get(client)
        if known is None or not hmac.compare_digest(known.encode(), secret.encode()):
            self.refused[client] += 1
            return HTTPStatus.UNAUTHORIZED, {"error": "invalid_client"}
        self.scopes[client, scope] += 1
        if scope != SCOPE:
            self.refused[client] += 1
            return HTTPStatus.BAD_REQUEST, {"error": "invalid_scope"}
        self.issued[client] += 1
        self.given.append(self.token(client))
        return HTTPStatus.OK, {
            "access_token": self.given[-1],
            "token_type": "Bearer",
            "expires_in": max(0, int(self.lifetime)),
            "scope": SCOPE,
        }

    def token(self, client: str, lifetime: float | None = None) -> str:
        """A signed token that says who `client` is."""
        seconds = self.lifetime if lifetime is None else lifetime
        now = time.time() - (_EXPIRED_AGE if seconds < 0 else 0.0)
        claims = {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "sub": client,
            "scope": SCOPE,
            "iat": int(now),
            "exp": int(time.time() + seconds),
            "jti": secrets.token_hex(8),
        }
        header = {"alg": "RS256", "typ": "JWT", "kid": self._key_id}
        signed = f"{_encoded(_json(header))}.{_encoded(_json(claims))}"
        signature = self._key.sign(signed.encode(), PKCS1v15(), hashes.SHA256())
        return f"{signed}.{_encoded(signature)}"

    def keys(self) -> dict[str, object]:
        """The published keys."""
        public = self._key.public_key().public_numbers()
        numbers = {"n": _encoded(_number(public.n)), "e": _encoded(_number(public.e))}
        described = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self._key_id, **numbers}
        return {"keys": [described]}


class _Server(http.server.ThreadingHTTPServer):
    """One life of an endpoint, from its start to its stop."""

    daemon_threads = True

    def __init__(self, endpoint: TokenEndpoint, certificate: Path) -> None:
        self.endpoint = endpoint
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        super().__init__((HOST, endpoint.port), _Answer)
        # A handshake while accepting would let one silent client keep out all others.
        self.socket = context.wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False
        )
        self._thread = threading.Thread(
            target=self.serve_forever, args=(0.05,), name="tokens", daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: a client that does not trust us or goes away is no news here."""


class _Answer(http.server.BaseHTTPRequestHandler):
    """One request."""

    server: _Server
    timeout = _WAIT_SECONDS

    def do_GET(self) -> None:
        if self.path == "/keys":
            self._send(HTTPStatus.OK, self.server.endpoint.keys())
        else:
            self._send(HTTPStatus.NOT_FOUND, {"error": "not_found"})

    def do_POST(self) -> None:
        told = self.headers.get("Content-Length", "")
        size = int(told) if told.isdigit() else 0
        # Who is hung up on while he still speaks does not hear the answer.
        said = self.rfile.read(min(size, _MOST_HEARD))
        if self.path != "/token" or not told.isdigit() or size > _MOST_BYTES:
            self._send(HTTPStatus.BAD_REQUEST, {"error": "invalid_request"})
            return
        form = dict(urllib.parse.parse_qsl(said.decode(errors="replace")))
        if form.get("grant_type") != "client_credentials":
            self._send(HTTPStatus.BAD_REQUEST, {"error": "unsupported_grant_type"})
            return
        client, secret = self._client()
        self._send(*self.server.endpoint.grant(client, secret, form.get("scope", "")))

    def _client(self) -> tuple[str, str]:
        """Id and secret, from the header that both Kafka clients send them in."""
        scheme, _, text = self.headers.get("Authorization", "").partition(" ")
        try:
            given = base64.b64decode(text).decode() if scheme.lower() == "basic" else ""
        except ValueError:
            given = ""
        client, _, secret = given.partition(":")
        return client, secret

    def _send(self, status: HTTPStatus, answer: Mapping[str, object]) -> None:
        content = _json(answer)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name
        """Nothing: it would go to the terminal, over the demo's screen."""


def _number(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def _json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
