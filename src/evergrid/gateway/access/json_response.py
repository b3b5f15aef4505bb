"""JSON responses over HTTP; errors have the same codes as over the WebSocket."""

from __future__ import annotations

from typing import Annotated

import msgspec
from aiohttp import web

from evergrid.protocol.error_codes import Code

JSON = "application/json"
RETRY_SECONDS = "1"


class ErrorDetail(msgspec.Struct, frozen=True):
    code: Code
    message: str
    retry: Annotated[bool, msgspec.Meta(description="Whether to try again later.")]


class ErrorBody(msgspec.Struct, frozen=True):
    error: ErrorDetail


def json_response(body: msgspec.Struct | dict[str, object], status: int = 200) -> web.Response:
    return web.Response(
        status=status, body=msgspec.json.encode(body) + b"\n", content_type=JSON, charset="utf-8"
    )


def error_response(code: Code, message: str) -> web.Response:
    """An error, with the headers that its status requires."""
    detail = ErrorDetail(code=code, message=message, retry=code.retry)
    response = json_response(ErrorBody(detail), code.http)
    if code.http == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="evergrid"'
    if code.retry and code.http in (429, 503):
        response.headers["Retry-After"] = RETRY_SECONDS
    return response
