"""What every request passes: the door, the key, and an answer in our words if it fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import hdrs, web

from evergrid.gateway.access.access_key import Key, KeyProblem
from evergrid.gateway.access.json_response import failure
from evergrid.gateway.access.origin_policy import Door
from evergrid.gateway.access.request_checks import shown
from evergrid.gateway.access.request_error import UNFORESEEN, Refusal, refusal_of
from evergrid.gateway.access.traffic_counters import Counts
from evergrid.gateway.live.session_context import KeyFinder
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import PATH
from evergrid.views.query import QueryError

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Say = Callable[[str], None]

# Whatever is not named here needs a key, so that nothing is open by oversight.
PUBLIC = frozenset(("/", "/client.js", "/livez", "/readyz", "/openapi.json"))
KEY = web.RequestKey("key", Key)
# The word in an answer by which browsers know that its styles are ours.
NONCE = web.ResponseKey("nonce", str)
# The route of whatever no other one is for: files of the web app, and its views.
REST = "/{rest:.*}"
_REST = "/{rest}"  # as the router names it
_SCHEME = "bearer "


class Gate:
    """Stands before all handlers; those it lets through find their key in the request."""

    def __init__(self, door: Door, keys: KeyFinder, counts: Counts, say: Say) -> None:
        self._door = door
        self._keys = keys
        self._counts = counts
        self._say = say

    async def pass_through(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        answer = await self._answer(request, handler)
        self._counts.requests[answer.status] += 1
        return answer

    async def dress(self, request: web.Request, answer: web.StreamResponse) -> None:
        """The headers that every answer has, also one that is streamed or an upgrade."""
        headers = {
            "Server": "evergrid",
            **self._door.headers(request.path, answer.get(NONCE, "")),
            **self._door.cors(_joined(request, hdrs.ORIGIN)),
        }
        if hdrs.CACHE_CONTROL in answer.headers:
            del headers[hdrs.CACHE_CONTROL]  # who answers knows how long that holds
        if hdrs.VARY in answer.headers and hdrs.VARY in headers:
            headers[hdrs.VARY] += f", {answer.headers[hdrs.VARY]}"
        answer.headers.update(headers)

    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            self._admit(request)
            if request.method == hdrs.METH_OPTIONS:
                return web.Response(status=204, headers={hdrs.ALLOW: _methods(request)})
            return await handler(request)
        except Refusal as refusal:
            return failure(refusal.code, refusal.sentence())
        except QueryError as error:
            return failure(refusal_of(error).code, error.sentence())
        except web.HTTPException as error:
            return _translated(error, request)
        except ConnectionError:
            raise  # the client is gone, there is nobody to answer
        except Exception as error:
            self._say(f"{request.method} {shown(request.path)}: {type(error).__name__}: {error}")
            return failure(Code.INTERNAL, UNFORESEEN)

    def _admit(self, request: web.Request) -> None:
        public = _is_public(request) or request.method == hdrs.METH_OPTIONS
        has_credential = hdrs.AUTHORIZATION in request.headers
        refusal = self._door.refusal(
            host=_joined(request, hdrs.HOST),
            origin=_joined(request, hdrs.ORIGIN),
            has_credential=has_credential,
            query_keys=request.query.keys(),
            public=public,
        )
        if refusal:
            raise Refusal(*refusal)
        if public:
            return
        if has_credential:
            request[KEY] = self._key(_joined(request, hdrs.AUTHORIZATION) or "")
        elif request.path != PATH:  # there a key may come in the first message
            raise Refusal(
                Code.NOT_LOGGED_IN,
                "a key is needed",
                remedy="Send it as 'Authorization: Bearer KEY'.",
            )

    def _key(self, header: str) -> Key:
        if not header.lower().startswith(_SCHEME):
            raise Refusal(
                Code.BAD_KEY,
                "the Authorization header holds no key",
                remedy="Send it as 'Authorization: Bearer KEY'.",
            )
        found = self._keys.find(header[len(_SCHEME) :].strip())
        if isinstance(found, KeyProblem):
            raise Refusal(found.code, found.message)
        return found


def key_of(request: web.Request) -> Key | None:
    """The key that the request proved in its header."""
    return request.get(KEY)


def proven_key(request: web.Request) -> Key:
    """The same where there must be one."""
    key = key_of(request)
    if key is None:
        raise Refusal(Code.NOT_LOGGED_IN, "a key is needed")
    return key


def _is_public(request: web.Request) -> bool:
    resource = request.match_info.route.resource
    if resource is None or resource.canonical == _REST:
        # The web app, or nothing to see; but not for who guesses below /api.
        return not request.path.startswith("/api")
    return resource.canonical in PUBLIC


def _joined(request: web.Request, header: str) -> str | None:
    values = request.headers.getall(header, [])
    return ", ".join(values) if values else None


def _methods(request: web.Request) -> str:
    """What the address of a preflight can be asked with, itself included."""
    refusal = request.match_info.http_exception
    allowed = refusal.allowed_methods if isinstance(refusal, web.HTTPMethodNotAllowed) else set()
    return ", ".join(sorted(allowed | {hdrs.METH_OPTIONS}))


def _translated(error: web.HTTPException, request: web.Request) -> web.StreamResponse:
    """aiohttp's own refusals, in our words."""
    if isinstance(error, web.HTTPMethodNotAllowed):
        allowed = ", ".join(sorted(error.allowed_methods | {hdrs.METH_OPTIONS}))
        answer = failure(Code.METHOD_NOT_ALLOWED, f"here one can only {allowed}.")
        answer.headers[hdrs.ALLOW] = allowed
        return answer
    if error.status == 404:
        return failure(Code.NOT_FOUND, "there is nothing at this address. See /openapi.json.")
    if error.status == 413:
        return failure(Code.TOO_LARGE, "the request is too large.")
    return failure(Code.BAD_PARAMETER, f"the request cannot be read: {error.reason}.")
