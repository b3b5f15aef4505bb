"""The middleware of every request: checks Host, Origin and key, and turns errors into responses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import hdrs, web

from evergrid.gateway.access.access_key import AccessKey, KeyFinder
from evergrid.gateway.access.audit_log import AuditEntry, AuditEvent, AuditLog
from evergrid.gateway.access.connection_limiter import client_address
from evergrid.gateway.access.json_response import error_response
from evergrid.gateway.access.origin_policy import OriginPolicy, key_missing
from evergrid.gateway.access.refusals import Refusals
from evergrid.gateway.access.request_checks import shown
from evergrid.gateway.access.request_error import INTERNAL_ERROR, RequestError
from evergrid.gateway.access.traffic_counters import TrafficCounters
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import PATH
from evergrid.views.view_query import QueryError

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Log = Callable[[str], None]

# Public, and says more to a key.
READINESS = "/readyz"
# Every path that is not listed here needs a key, so that none is public by oversight.
PUBLIC = frozenset(("/", "/client.js", "/livez", READINESS, "/openapi.json"))
KEY = web.RequestKey("key", AccessKey)
# The nonce by which browsers accept the inline styles of a response.
NONCE = web.ResponseKey("nonce", str)
# The route of all paths without a route of their own: files of the web app, and its views.
REST = "/{rest:.*}"
_REST = "/{rest}"  # as the router names it
_SCHEME = "bearer "


class AuthMiddleware:
    """Runs before all handlers; they find the request's key with `key_of`."""

    def __init__(
        self,
        policy: OriginPolicy,
        keys: KeyFinder,
        counters: TrafficCounters,
        refusals: Refusals,
        audit: AuditLog,
        log: Log,
    ) -> None:
        self._policy = policy
        self._keys = keys
        self._counters = counters
        self._refusals = refusals
        self._audit = audit
        self._log = log

    async def handle(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await self._respond(request, handler)
        self._counters.requests[response.status] += 1
        return response

    async def add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        """Add the headers that every response has, also a streamed one or an upgrade."""
        headers = {
            "Server": "evergrid",
            **self._policy.headers(request.path, response.get(NONCE, "")),
            **self._policy.cors(_joined(request, hdrs.ORIGIN)),
        }
        if hdrs.CACHE_CONTROL in response.headers:
            del headers[hdrs.CACHE_CONTROL]  # the handler has set it
        if hdrs.VARY in response.headers and hdrs.VARY in headers:
            headers[hdrs.VARY] += f", {response.headers[hdrs.VARY]}"
        response.headers.update(headers)

    async def _respond(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            self._authenticate(request)
            if request.method == hdrs.METH_OPTIONS:
                return web.Response(status=204, headers={hdrs.ALLOW: _methods(request)})
            return await handler(request)
        except RequestError as error:
            self._counters.refused[error.code.value] += 1
            key = key_of(request)
            name = key.name if key else error.key
            self._refusals.audit(error.code, client_address(request.transport), name)
            return error_response(error.code, error.sentence())
        except QueryError as error:
            return error_response(Code.named(error.fault.value), error.sentence())
        except web.HTTPException as error:
            return _converted(error)
        except ConnectionError:
            raise  # the client is gone
        except Exception as error:
            self._log(f"{request.method} {shown(request.path)}: {type(error).__name__}: {error}")
            return error_response(Code.INTERNAL, INTERNAL_ERROR)

    def _authenticate(self, request: web.Request) -> None:
        public = _is_public(request) or request.method == hdrs.METH_OPTIONS
        has_credential = hdrs.AUTHORIZATION in request.headers
        self._policy.check(
            host=_joined(request, hdrs.HOST),
            origin=_joined(request, hdrs.ORIGIN),
            has_credential=has_credential,
            query_keys=request.query.keys(),
            public=public,
        )
        if public and request.path != READINESS:
            return
        if has_credential:
            key = request[KEY] = self._key(_joined(request, hdrs.AUTHORIZATION) or "")
            if request.path != PATH:  # there the first message is the login
                address = client_address(request.transport)
                self._audit.add_repeated(
                    AuditEntry(AuditEvent.LOGIN, key=key.name, address=address)
                )
        elif not public and request.path != PATH:  # there the first message may bring the key
            raise key_missing()

    def _key(self, header: str) -> AccessKey:
        if not header.lower().startswith(_SCHEME):
            raise RequestError(
                Code.BAD_KEY,
                "authentication failed: the Authorization header is not a bearer token",
                remedy="Send it as 'Authorization: Bearer KEY'.",
            )
        return self._keys.find(header[len(_SCHEME) :].strip())


def key_of(request: web.Request) -> AccessKey | None:
    """The key that the request proved in its header."""
    return request.get(KEY)


def proven_key(request: web.Request) -> AccessKey:
    """The same where a key is required."""
    key = key_of(request)
    if key is None:
        raise key_missing()
    return key


def _is_public(request: web.Request) -> bool:
    resource = request.match_info.route.resource
    if resource is None or resource.canonical == _REST:
        # The web app, or nothing; but below /api a key is required to learn even that.
        return not request.path.startswith("/api")
    return resource.canonical in PUBLIC


def _joined(request: web.Request, header: str) -> str | None:
    values = request.headers.getall(header, [])
    return ", ".join(values) if values else None


def _methods(request: web.Request) -> str:
    """The methods that the path of a preflight allows."""
    error = request.match_info.http_exception
    return _allowed(error) if isinstance(error, web.HTTPMethodNotAllowed) else hdrs.METH_OPTIONS


def _allowed(error: web.HTTPMethodNotAllowed) -> str:
    return ", ".join(sorted(error.allowed_methods | {hdrs.METH_OPTIONS}))


def _converted(error: web.HTTPException) -> web.StreamResponse:
    """An error of aiohttp as Evergrid's error response."""
    if isinstance(error, web.HTTPMethodNotAllowed):
        allowed = _allowed(error)
        response = error_response(Code.METHOD_NOT_ALLOWED, f"method not allowed; use {allowed}.")
        response.headers[hdrs.ALLOW] = allowed
        return response
    if error.status == 404:
        return error_response(Code.NOT_FOUND, "not found: see /openapi.json for all paths.")
    if error.status == 413:
        return error_response(Code.TOO_LARGE, "request too large.")
    return error_response(Code.BAD_PARAMETER, f"bad request: {error.reason}.")
