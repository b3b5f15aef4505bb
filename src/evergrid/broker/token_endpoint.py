"""An OAuth 2.0 token endpoint over HTTPS, for the demo and the tests, on loopback.

It supports the client credentials grant. Tokens are JWTs signed with RS256; the broker fetches the
public key from the same server:

    POST /token    a token, for a known client and scope
    GET  /keys     the public key of the tokens' signatures (a JWKS document)

Tests may change how it behaves while it runs: `lifetime` (negative returns expired tokens),
`secrets`, and `stop()` and `start()` for an endpoint that is down for a while.
"""

from __future__ import annotations

import base64
import hmac
import http.server
import secrets
import ssl
import threading
import time
import urllib.parse
from collections import Counter, deque
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

from evergrid.broker.certificate_authority import make_key
from evergrid.broker.listeners import AUDIENCE, KEYS_PATH
from evergrid.broker.loopback_ports import HOST

SCOPE = "kafka"
LIFETIME = 300.0  # seconds

_TOKENS_KEPT = 1000
_LARGEST_REQUEST = 16 * 1024  # bytes
_LARGEST_READ = 100_000
_READ_SECONDS = 10.0
_EXPIRED_AGE = 3600.0  # the age of a token that is returned expired


class TokenEndpoint:
    """Serves while started; `secrets` maps client ids to their secrets."""

    def __init__(self, certificate: Path, port: int, clients: Mapping[str, str]) -> None:
        self.port = port
        self.issuer = f"https://{HOST}:{port}"
        self.url = f"{self.issuer}/token"
        self.keys_url = f"{self.issuer}{KEYS_PATH}"
        self.secrets = dict(clients)
        self.lifetime = LIFETIME
        self.issued: Counter[str] = Counter()  # client → tokens issued
        self.refused: Counter[str] = Counter()  # client → requests refused
        self.scopes: Counter[tuple[str, str]] = Counter()  # client, scope → requests for it
        self.given: deque[str] = deque(maxlen=_TOKENS_KEPT)  # the newest tokens themselves
        self._key = make_key()
        self._key_id = secrets.token_hex(8)
        self._certificate = certificate
        self._server: _Server | None = None

    def start(self) -> None:
        if self._server is None:
            self._server = _Server(self, self._certificate)

    def stop(self) -> None:
        """Stop serving; tokens that were issued stay valid."""
        if self._server is not None:
            self._server.end()
            self._server = None

    def grant(self, client: str, secret: str, scope: str) -> tuple[HTTPStatus, dict[str, object]]:
        """The status and body of the response to a request for a token."""
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
        """A signed token for `client`."""
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
        signed = ".".join(_encoded(msgspec.json.encode(part)) for part in (header, claims))
        signature = self._key.sign(signed.encode(), PKCS1v15(), hashes.SHA256())
        return f"{signed}.{_encoded(signature)}"

    def keys(self) -> dict[str, object]:
        """The JWKS document."""
        public = self._key.public_key().public_numbers()
        numbers = {
            name: _encoded(number.to_bytes((number.bit_length() + 7) // 8, "big"))
            for name, number in (("n", public.n), ("e", public.e))
        }
        described = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self._key_id}
        return {"keys": [described | numbers]}


class _Server(http.server.ThreadingHTTPServer):
    """The HTTPS server of an endpoint, from its start to its stop."""

    daemon_threads = True

    def __init__(self, endpoint: TokenEndpoint, certificate: Path) -> None:
        self.endpoint = endpoint
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        super().__init__((HOST, endpoint.port), _Handler)
        # A handshake inside accept() would let one silent client block all others.
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
        """Nothing: a client that does not trust us, or disconnects, is no error here."""


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server
    timeout = _READ_SECONDS

    def do_GET(self) -> None:
        if self.path == KEYS_PATH:
            self._send(HTTPStatus.OK, self.server.endpoint.keys())
        else:
            self._send(HTTPStatus.NOT_FOUND, {"error": "not_found"})

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        size = int(length) if length.isdigit() else 0
        # A client whose connection is closed while it still sends does not get the response.
        body = self.rfile.read(min(size, _LARGEST_READ))
        if self.path != "/token" or not length.isdigit() or size > _LARGEST_REQUEST:
            self._send(HTTPStatus.BAD_REQUEST, {"error": "invalid_request"})
            return
        form = dict(urllib.parse.parse_qsl(body.decode(errors="replace")))
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
            return "", ""
        client, _, secret = given.partition(":")
        return client, secret

    def _send(self, status: HTTPStatus, answer: Mapping[str, object]) -> None:
        content = msgspec.json.encode(answer)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name
        """Nothing: it would go to the terminal, over the demo's screen."""


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
