"""The HTTP interface in OpenAPI 3.1, for people's tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evergrid.gateway.access.request_checks import FURTHEST
from evergrid.gateway.http.assets import CLIENT
from evergrid.gateway.http.openapi_schemas import (
    BOOLEAN,
    INTEGER,
    NAME_PATTERN,
    TEXT,
    Json,
    json_of,
    list_of,
    object_of,
    ref,
    schemas,
)
from evergrid.gateway.http.row_parameters import ALL, Format
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import DEFAULT_LIMIT, PATH, SUBPROTOCOL

_OPEN: Json = {"security": []}
_ALWAYS = (Code.KEY_IN_ADDRESS, Code.NOT_LOGGED_IN, Code.ORIGIN_REFUSED, Code.HOST_REFUSED)


def description(version: str) -> Json:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Evergrid gateway",
            "version": version,
            "description": "Live tables, read only, but for control messages of keys that may send "
            "them. Every error has a stable code.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"key": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A key made by `evergrid key create NAME`; never in a URL.",
                }
            },
            "schemas": schemas(),
        },
    }


def _paths() -> Json:
    return {
        "/": {"get": _OPEN | _operation("The web app.", {"text/html": TEXT})},
        CLIENT: {"get": _OPEN | _operation("The browser client.", {"text/javascript": TEXT})},
        "/livez": {
            "get": _OPEN
            | _operation("Whether the process runs.", json_of(object_of({"alive": BOOLEAN})))
        },
        "/readyz": {
            "get": _OPEN
            | _operation("Whether all tables are loaded.", json_of(ref("Readiness")))
            | _with_errors(json_of(ref("Readiness")), Code.NOT_READY)
        },
        "/openapi.json": {
            "get": _OPEN | _operation("This description.", json_of({"type": "object"}))
        },
        "/metrics": {"get": _operation("Metrics for Prometheus.", {"text/plain": TEXT})},
        "/api/tables": {
            "get": _operation(
                "The tables that the key may read.",
                json_of(object_of({"tables": list_of(ref("Table"))})),
            )
        },
        "/api/control": _control_path(),
        "/api/pipeline": {
            "get": _operation(
                "How the pipeline is, and its generations.",
                json_of(object_of({"pipeline": ref("Pipeline")})),
            )
        },
        "/api/tables/{name}": _table_path(),
        "/api/tables/{name}/rows": _rows_path(),
        PATH: _live_path(),
    }


def _table_path() -> Json:
    content = json_of(ref("Table"))
    operation = _operation("One table: columns, size, rate, freshness.", content)
    errors = _with_errors(content, Code.BAD_TABLE_NAME, Code.NO_RIGHTS, Code.NO_SUCH_TABLE)
    return {"parameters": [_TABLE_NAME], "get": operation | errors}


def _control_path() -> Json:
    choices = json_of(object_of({"control": ref("Control")}))
    get = _operation("What a control message may ask for.", choices)
    sent = json_of(object_of({"sent": object_of({"partition": INTEGER, "offset": INTEGER})}))
    post: Json = {
        "summary": "Send a control message; its verdict is a row of control_raw.",
        "requestBody": {"required": True, "content": json_of(ref("ControlMessage"))},
        "responses": {
            "202": {"description": "It is on the control topic.", "content": sent},
            **_errors(
                (
                    *_ALWAYS,
                    Code.NO_RIGHTS,
                    Code.BAD_CONTROL,
                    Code.BAD_CONTENT_TYPE,
                    Code.TOO_LARGE,
                    Code.SILENT,
                    Code.TOO_MANY_MESSAGES,
                    Code.NOT_SENT,
                )
            ),
        },
    }
    return {"get": get | _with_errors(choices, Code.NO_RIGHTS), "post": post}


def _rows_path() -> Json:
    content: Json = {
        Format.JSON.media: {"schema": ref("Rows")},
        Format.NDJSON.media: {"schema": ref("Row")},
        Format.CSV.media: {"schema": TEXT},
        Format.ARROW.media: {"schema": TEXT | {"contentEncoding": "binary"}},
    }
    operation = _operation("Rows, in order; streamed when there are many.", content)
    errors = _with_errors(
        content,
        Code.BAD_PARAMETER,
        Code.BAD_TABLE_NAME,
        Code.UNKNOWN_COLUMN,
        Code.BAD_FILTER,
        Code.BAD_VALUE,
        Code.BAD_ORDER,
        Code.BAD_SEARCH,
        Code.BAD_WINDOW,
        Code.NO_RIGHTS,
        Code.NO_SUCH_TABLE,
        Code.NOT_READY,
        Code.TOO_MANY_EXPORTS,
    )
    return {
        "parameters": [_TABLE_NAME],
        "get": operation | errors | {"parameters": _rows_parameters()},
    }


def _rows_parameters() -> list[Json]:
    integer = INTEGER | {"minimum": -FURTHEST, "maximum": FURTHEST}
    limit: Json = {"oneOf": [INTEGER | {"minimum": 1, "maximum": FURTHEST}, {"const": ALL}]}
    return [
        _query("columns", "Names with commas between; all of them if left out.", TEXT),
        _query(
            "filter",
            "What rows must be like.",
            {"contentMediaType": "application/json", **TEXT},
            content=json_of(ref("Filter")),
        ),
        _query("search", "Words that must be in some column.", TEXT),
        _query(
            "order",
            "Columns with commas between; - before one: descending; :first or :last after it: "
            "where nulls go.",
            TEXT | {"examples": ["-ts,name:first"]},
        ),
        _query("offset", "Rows left out; negative: counted from the end.", integer),
        _query("limit", "Rows at most.", limit | {"default": DEFAULT_LIMIT}),
        _query(
            "format",
            "Also by the Accept header.",
            {"enum": [format_.value for format_ in Format], "default": Format.JSON.value},
        ),
        _query("guard", "In CSV: ' before texts that look like formulas.", BOOLEAN),
    ]


def _live_path() -> Json:
    operation: Json = {
        "summary": f"The live protocol: a WebSocket, sub-protocol {SUBPROTOCOL}.",
        "security": [{"key": []}, {}],
        "responses": {
            "101": {"description": "Hands shaken; `hello` comes next."},
            **_errors((Code.UNSUPPORTED_PROTOCOL, Code.TOO_MANY_CONNECTIONS)),
        },
    }
    return {"get": operation}


def _operation(summary: str, content: Mapping[str, object]) -> Json:
    described = {
        media: entry if isinstance(entry, dict) and "schema" in entry else {"schema": entry}
        for media, entry in content.items()
    }
    return {"summary": summary} | _with_errors(described)


def _with_errors(content: Mapping[str, object], *codes: Code) -> Json:
    ok: Json = {"description": "Here it is.", "content": dict(content)}
    return {"responses": {"200": ok, **_errors((*_ALWAYS, *codes))}}


def _errors(codes: Iterable[Code]) -> Json:
    by_status: dict[str, list[str]] = {}
    for code in codes:
        by_status.setdefault(str(code.http), []).append(code.value)
    return {
        status: {
            "description": "Refused: " + ", ".join(names) + ".",
            "content": json_of(ref("Error")),
        }
        for status, names in sorted(by_status.items())
    }


def _query(name: str, sentence: str, schema: Json, content: Json | None = None) -> Json:
    shape: Json = {"content": content} if content else {"schema": schema}
    return {"name": name, "in": "query", "required": False, "description": sentence, **shape}


_TABLE_NAME: Json = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "A table's name.",
    "schema": TEXT | {"pattern": NAME_PATTERN},
}
