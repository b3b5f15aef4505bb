"""The policy on Host and Origin headers, and the security headers of every response.

Host and Origin are compared as plain text with lists that are made at the start. Nothing is
resolved, decoded or parsed: an address in another spelling than a browser's does not match.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping

from evergrid.config.problems import quoted
from evergrid.config.settings import Gateway
from evergrid.config.web_addresses import DEFAULT_PORTS
from evergrid.gateway.access.request_error import RequestError
from evergrid.model.errors import ConfigError
from evergrid.protocol.error_codes import Code

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_CREDENTIALS = frozenset(
    [
        "key",
        "apikey",
        "api_key",
        "token",
        "access_token",
        "auth_token",
        "auth",
        "authorization",
        "bearer",
        "psk",
        "password",
        "passwd",
        "pwd",
        "secret",
        "credential",
        "credentials",
    ]
)
_YEAR_SECONDS = 365 * 24 * 3600
_PREFLIGHT_SECONDS = 600
# Responses that must not be stored; browsers may store others if they revalidate each time.
_NO_STORE = ("/api", "/metrics", "/livez", "/readyz")
# The browser client contains no data, and pages of other sites load it.
_CROSS_ORIGIN = ("/client.js",)
_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), "
    "payment=(), usb=()",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens at `host`.

    `localhost` is the only name that counts: what other names resolve to can change.
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_binding(gateway: Gateway) -> None:
    """ConfigError if the gateway would send keys and rows over a network unencrypted."""
    if is_loopback(gateway.host) or gateway.tls or gateway.behind_proxy:
        return
    raise ConfigError(
        f"TLS is missing: other machines can reach {gateway.host}, and keys would travel "
        "unencrypted",
        where="gateway.host",
        remedy="Set gateway.tls; or gateway.behind_proxy: true if a proxy in front of it serves "
        "https; or go back to 127.0.0.1.",
    )


class OriginPolicy:
    """Checks each request before anything else does."""

    def __init__(self, gateway: Gateway, port: int) -> None:
        """`port` is the one that the gateway listens on, also if the settings say 0."""
        own = {f"{name}:{port}" for name in _own_names(gateway.host)}
        scheme = "https" if gateway.tls else "http"
        public = "https" if gateway.behind_proxy else scheme
        public_port = DEFAULT_PORTS[public] if gateway.behind_proxy else port
        asked_for = {_with_port(name, public_port) for name in gateway.hosts}
        # The addresses at which the gateway itself listens, and the public ones.
        addresses = {
            *(f"{scheme}://{spelled}" for name in own for spelled in _spellings(name, scheme)),
            *(
                f"{public}://{spelled}"
                for name in asked_for
                for spelled in _spellings(name, public)
            ),
        }
        self._hosts = frozenset(address.partition("://")[2] for address in addresses)
        self._origins = frozenset(addresses) | frozenset(gateway.origins)
        self._allows_others = bool(gateway.origins)
        self._policy = _policy(addresses)
        self._headers = dict(_SECURITY_HEADERS)
        if gateway.tls and not is_loopback(gateway.host):
            # Not on loopback: browsers would require https of everything on localhost.
            self._headers["Strict-Transport-Security"] = f"max-age={_YEAR_SECONDS}"

    def check(
        self,
        host: str | None,
        origin: str | None,
        has_credential: bool,
        query_keys: Iterable[str],
        public: bool = False,
    ) -> None:
        """RequestError if the request is not allowed.

        If a header was sent several times, pass its values joined: that matches no list.
        `has_credential`: it has an Authorization header, valid or not. `public`: it asks for
        something that anyone may see, and needs neither that nor an Origin.
        """
        if any(_is_credential(name) for name in query_keys):
            raise RequestError(
                Code.KEY_IN_ADDRESS,
                "key in the URL: it never belongs there, because logs and histories keep URLs",
                remedy="Send it as 'Authorization: Bearer KEY', remove this address from the "
                "history, and replace the key if it was a real one.",
            )
        if host is None or _lower(host) not in self._hosts:
            raise _host_error(host)
        if origin is not None:
            if _lower(origin) not in self._origins:
                raise RequestError(
                    Code.ORIGIN_REFUSED,
                    f"origin {quoted(origin)} is not allowed",
                    remedy="Open the gateway's own page, or add the origin to gateway.origins in "
                    "its configuration.",
                )
        elif not (has_credential or public):
            raise key_missing()

    def headers(self, path: str, nonce: str = "") -> Mapping[str, str]:
        """The headers of every response for `path`; the web page has a nonce for its styles.

        The page also declares `/` as its base, since its views have longer paths.
        """
        no_store = any(path == start or path.startswith(f"{start}/") for start in _NO_STORE)
        own = {"style-src": f"'self' 'nonce-{nonce}'", "base-uri": "'self'"} if nonce else {}
        policy = "; ".join(f"{name} {value}" for name, value in {**self._policy, **own}.items())
        return {
            **self._headers,
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store" if no_store else "no-cache",
            "Cross-Origin-Resource-Policy": (
                "cross-origin" if path in _CROSS_ORIGIN else "same-origin"
            ),
        }

    def cors(self, origin: str | None) -> Mapping[str, str]:
        """The CORS headers for pages of allowed origins, also for their preflight.

        Cookies are not allowed: a key in a header is the only credential.
        """
        headers = {"Vary": "Origin"} if self._allows_others or origin is not None else {}
        if origin is None or _lower(origin) not in self._origins:
            return headers
        return headers | {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": "GET, HEAD, POST",
            "Access-Control-Allow-Headers": "Authorization, Content-Type",
            "Access-Control-Max-Age": str(_PREFLIGHT_SECONDS),
        }


def _own_names(host: str) -> Iterator[str]:
    """The names of a gateway that listens at `host`, without the port."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        yield host
        if is_loopback(host):
            yield from _LOOPBACK
        return
    if not address.is_unspecified:
        yield f"[{address}]" if address.version == 6 else str(address)
    # 0.0.0.0 includes loopback; the machine's other names are unknown here and must be
    # configured.
    if address.is_unspecified or address.is_loopback:
        yield from _LOOPBACK


def _with_port(name: str, port: int) -> str:
    has_port = name.rpartition(":")[2].isdigit() and not name.endswith("]")
    return name if has_port else f"{name}:{port}"


def _spellings(name: str, scheme: str) -> tuple[str, ...]:
    """The name with its port, and without it if that is the scheme's default."""
    short = name.removesuffix(f":{DEFAULT_PORTS[scheme]}")
    return (name,) if short == name else (name, short)


def _lower(text: str) -> str:
    """Lower case, for ASCII only: some other letters have an ASCII letter as lower case."""
    return text.lower() if text.isascii() else ""


def _is_credential(name: str) -> bool:
    return name.strip().lower().replace("-", "_") in _CREDENTIALS


def key_missing() -> RequestError:
    return RequestError(
        Code.NOT_LOGGED_IN,
        "authentication required: there is no key in the request",
        remedy="Send it as 'Authorization: Bearer KEY'.",
    )


def _host_error(host: str | None) -> RequestError:
    if host is None:
        what, remedy = "missing Host header", "Send the gateway's name in it."
    else:
        what = f"host {quoted(host)} is not a name of this gateway"
        remedy = "Use its own address, or add the name to gateway.hosts in its configuration."
    return RequestError(Code.HOST_REFUSED, what, remedy=remedy)


def _policy(addresses: Iterable[str]) -> dict[str, str]:
    # Older browsers do not count WebSockets as 'self'. Content policies cannot name
    # IPv6 addresses, so there 'self' must be enough.
    sockets = sorted(
        "ws" + address.removeprefix("http") for address in addresses if "[" not in address
    )
    return {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "font-src": "'self'",
        "connect-src": " ".join(("'self'", *sockets)),
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        # No text becomes HTML or code: neither the page nor its libraries may ask for that.
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
