"""What is answered over HTTP: JSON, and errors by the same codes as over the WebSocket."""

from __future__ import annotations

import msgspec
from aiohttp import web

from evergrid.protocol.codes import Code

JSON = "application/json"
RETRY_SECONDS = "1"


class Problem(msgspec.Struct, frozen=True):
    code: str
    message: str
    retry: bool


class Failure(msgspec.Struct, frozen=True):
    error: Problem


def json_answer(body: msgspec.Struct | dict[str, object], status: int = 200) -> web.Response:
    return web.Response(
        status=status, body=msgspec.json.encode(body) + b"\n", content_type=JSON, charset="utf-8"
    )


def failure(code: Code, message: str) -> web.Response:
    """An error, with the headers that its status asks for."""
    answer = json_answer(Failure(Problem(code.value, message, code.retry)), code.http)
    if code.http == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="evergrid"'
    if code.retry and code.http in (429, 503):
        answer.headers["Retry-After"] = RETRY_SECONDS
    return answer
