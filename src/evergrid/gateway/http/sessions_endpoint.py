"""The endpoint /api/sessions: administrators list the open sessions, and end them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from aiohttp import web

from evergrid.gateway.access.access_key import AccessKey
from evergrid.gateway.access.audit_log import AuditEntry, AuditEvent, AuditLog
from evergrid.gateway.access.auth_middleware import proven_key
from evergrid.gateway.access.connection_limiter import client_address
from evergrid.gateway.access.json_response import json_response
from evergrid.gateway.access.open_sessions import OpenSessions, SessionInfo
from evergrid.gateway.access.request_error import RequestError
from evergrid.protocol.error_codes import Code


class SessionList(msgspec.Struct, frozen=True):
    sessions: Sequence[SessionInfo]


class SessionsEndpoint:
    """For keys with the `admin` right alone: others must not learn who else is there."""

    def __init__(self, sessions: OpenSessions, audit: AuditLog) -> None:
        self._sessions = sessions
        self._audit = audit

    async def all(self, request: web.Request) -> web.StreamResponse:
        _admin(request)
        return json_response(SessionList(self._sessions.sessions()))

    async def one(self, request: web.Request) -> web.StreamResponse:
        _admin(request)
        found = [one for one in self._sessions.sessions() if one.id == request.match_info["id"]]
        return json_response(_found(found[0] if found else None))

    async def end(self, request: web.Request) -> web.StreamResponse:
        key = _admin(request)
        ended = _found(self._sessions.end_session(request.match_info["id"]))
        address = client_address(request.transport)
        self._audit.add(
            AuditEntry(
                AuditEvent.SESSION_ENDED,
                key=key.name,
                address=address,
                session=ended.id,
                of_key=ended.key,
            )
        )
        return json_response(ended)


def _admin(request: web.Request) -> AccessKey:
    key = proven_key(request)
    if not key.admin:
        raise RequestError(
            Code.NO_RIGHTS,
            "permission denied: this key may not see or end sessions",
            remedy="Ask for a key that may (evergrid key create NAME --admin).",
        )
    return key


def _found(session: SessionInfo | None) -> SessionInfo:
    if session is None:
        raise RequestError(
            Code.NOT_FOUND,
            "no such session: it has ended, or belongs to another gateway",
            remedy="GET /api/sessions lists those of this gateway.",
        )
    return session
