"""Who may come in: the names we are asked for by, the pages that ask, and what we answer with.

Host and Origin are compared letter by letter with lists made once. Nothing is resolved,
decoded or parsed: an address written in another way than browsers write it is another one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping

from evergrid.config.addresses import DEFAULT_PORTS
from evergrid.config.problems import quoted
from evergrid.config.settings import Gateway
from evergrid.model.errors import ConfigError
from evergrid.protocol.codes import Code

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
# What answers may be kept: pages and scripts, if they are asked for again each time.
_FRESH = ("/api", "/metrics", "/livez", "/readyz")
# The browser client: no data is in it, and other sites' pages load it to ask for some.
_SHARED = ("/client.js",)
_NO_FEATURES = ", ".join(
    f"{feature}=()"
    for feature in ["camera", "display-capture", "geolocation", "microphone", "payment", "usb"]
)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens at `host`.

    Of names, `localhost` alone is taken for such: what others stand for can change.
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_binding(gateway: Gateway) -> None:
    """ConfigError for a gateway that would send keys and rows over a network in clear text."""
    if is_loopback(gateway.host) or gateway.tls or gateway.behind_proxy:
        return
    raise ConfigError(
        f"{gateway.host} can be reached from other machines, and keys would travel unencrypted",
        where="gateway.host",
        remedy="Set gateway.tls; or gateway.behind_proxy: true when a proxy in front of it serves "
        "https; or go back to 127.0.0.1.",
    )


class Door:
    """Decides about each request before anything else looks at it."""

    def __init__(self, gateway: Gateway, port: int) -> None:
        """`port` is the one it really listens on, known when the settings say 0."""
        own = {f"{name}:{port}" for name in _own_names(gateway.host)}
        scheme = "https" if gateway.tls else "http"
        public = "https" if gateway.behind_proxy else scheme
        public_port = DEFAULT_PORTS[public] if gateway.behind_proxy else port
        asked_for = {_with_port(name, public_port) for name in gateway.hosts}
        # The address at which the gateway itself listens, and the one that the world sees.
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
        self._foreign = bool(gateway.origins)
        self._policy = _policy(addresses)
        self._headers = _security_headers()
        if gateway.tls and not is_loopback(gateway.host):
            # Not on loopback: browsers would want https of everything on localhost.
            self._headers["Strict-Transport-Security"] = f"max-age={_YEAR_SECONDS}"

    def refusal(
        self,
        host: str | None,
        origin: str | None,
        has_credential: bool,
        query_keys: Iterable[str],
        public: bool = False,
    ) -> tuple[Code, str] | None:
        """Why a request is refused, or None.

        Where a header came several times, give all its values joined: no list matches that.
        `has_credential`: it has an Authorization header, right or wrong. `public`: it is for
        something that anyone may see, and needs neither that nor an Origin.
        """
        if any(_is_credential(name) for name in query_keys):
            return (
                Code.KEY_IN_ADDRESS,
                "a key never belongs in an address, where logs and histories keep it. Send it as "
                "'Authorization: Bearer KEY', take this address out of the history, and replace "
                "the key if it was a real one.",
            )
        if host is None or _lower(host) not in self._hosts:
            return Code.HOST_REFUSED, _host_refused(host)
        if origin is not None:
            return None if _lower(origin) in self._origins else _origin_refused(origin)
        if has_credential or public:
            return None
        return Code.NOT_LOGGED_IN, "a key is needed. Send it as 'Authorization: Bearer KEY'."

    def headers(self, path: str, nonce: str = "") -> Mapping[str, str]:
        """What every answer for `path` carries; the web page has a nonce for its styles.

        The page also names `/` as its base, since its views have longer addresses.
        """
        fresh = any(path == start or path.startswith(f"{start}/") for start in _FRESH)
        own = {"style-src": f"'self' 'nonce-{nonce}'", "base-uri": "'self'"} if nonce else {}
        policy = "; ".join(f"{name} {value}" for name, value in {**self._policy, **own}.items())
        return {
            **self._headers,
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store" if fresh else "no-cache",
            "Cross-Origin-Resource-Policy": "cross-origin" if path in _SHARED else "same-origin",
        }

    def cors(self, origin: str | None) -> Mapping[str, str]:
        """What lets pages of allowed origins read an answer, also one to their preflight.

        Cookies and the like stay forbidden: a key in a header is the only credential.
        """
        headers = {"Vary": "Origin"} if self._foreign or origin is not None else {}
        if origin is None or _lower(origin) not in self._origins:
            return headers
        return headers | {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": "GET, HEAD, POST",
            "Access-Control-Allow-Headers": "Authorization, Content-Type",
            "Access-Control-Max-Age": str(_PREFLIGHT_SECONDS),
        }


def _own_names(host: str) -> Iterator[str]:
    """What a gateway that listens at `host` is called, without the port."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        yield host
        if is_loopback(host):
            yield from _LOOPBACK
        return
    if not address.is_unspecified:
        yield f"[{address}]" if address.version == 6 else str(address)
    # Listening everywhere includes loopback; the machine's other names must be configured,
    # since whatever it is called elsewhere is not known here.
    if address.is_unspecified or address.is_loopback:
        yield from _LOOPBACK


def _with_port(name: str, port: int) -> str:
    has_port = name.rpartition(":")[2].isdigit() and not name.endswith("]")
    return name if has_port else f"{name}:{port}"


def _spellings(name: str, scheme: str) -> tuple[str, ...]:
    """With its port, and without where that is the scheme's default."""
    short = name.removesuffix(f":{DEFAULT_PORTS[scheme]}")
    return (name,) if short == name else (name, short)


def _lower(text: str) -> str:
    """Lower case of ASCII alone: there are other letters whose lower case is an ASCII one."""
    return text.lower() if text.isascii() else ""


def _is_credential(name: str) -> bool:
    return name.strip().lower().replace("-", "_") in _CREDENTIALS


def _host_refused(host: str | None) -> str:
    if host is None:
        return "the request has no Host header. Send the name under which you ask."
    return (
        f"this gateway does not go by the name {quoted(host)}. Ask for it by its own address, "
        "or add the name to gateway.hosts in its configuration."
    )


def _origin_refused(origin: str) -> tuple[Code, str]:
    return Code.ORIGIN_REFUSED, (
        f"pages of {quoted(origin)} may not ask this gateway. Open the gateway's own page, or add "
        "the address to gateway.origins in its configuration."
    )


def _policy(addresses: Iterable[str]) -> dict[str, str]:
    # Older browsers do not count WebSockets as 'self'. Content policies cannot name
    # IPv6 addresses; there 'self' has to do.
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
    }


def _security_headers() -> dict[str, str]:
    return {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": _NO_FEATURES,
    }
