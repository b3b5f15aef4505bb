"""The HTTP interface as an OpenAPI 3.1 document."""

from __future__ import annotations

from collections.abc import Iterable

from evergrid.gateway.access.json_response import ErrorBody
from evergrid.gateway.access.request_checks import MAX_OFFSET
from evergrid.gateway.engine.table_engine import TableInfo
from evergrid.gateway.http.api import Liveness, Readiness, TableList
from evergrid.gateway.http.assets import CLIENT
from evergrid.gateway.http.control_endpoint import ControlResponse, SentResponse
from evergrid.gateway.http.openapi_schemas import Json, json_of, ref, schemas
from evergrid.gateway.http.pipeline_status import PipelineResponse
from evergrid.gateway.http.row_formats import RowsDocument
from evergrid.gateway.http.row_parameters import ALL, Format
from evergrid.model.table import NAME
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import DEFAULT_LIMIT, PATH, SUBPROTOCOL
from evergrid.views.view_query import Filter

_TEXT: Json = {"type": "string"}
_INTEGER: Json = {"type": "integer", "format": "int64"}
_BOOLEAN: Json = {"type": "boolean"}
_PUBLIC: Json = {"security": []}
_ALWAYS = (Code.KEY_IN_ADDRESS, Code.NOT_LOGGED_IN, Code.ORIGIN_REFUSED, Code.HOST_REFUSED)
_TABLE_NAME: Json = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "The name of a table.",
    "schema": _TEXT | {"pattern": f"^{NAME.pattern}$"},
}


def openapi_document(version: str) -> Json:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Evergrid gateway",
            "version": version,
            "description": "Live tables, read-only; keys with the right to do so may send control "
            "messages. Every error has a stable code.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"key": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A key created by `evergrid key create NAME`; never in a URL.",
                }
            },
            "schemas": schemas(),
        },
    }


def _paths() -> Json:
    return {
        "/": {"get": _PUBLIC | _get("The web app.", _text("text/html"))},
        CLIENT: {"get": _PUBLIC | _get("The browser client.", _text("text/javascript"))},
        "/livez": {"get": _PUBLIC | _get("Whether the process runs.", json_of(Liveness))},
        "/readyz": {
            "get": _PUBLIC
            | _get("Whether all tables are loaded.", json_of(Readiness), Code.NOT_READY)
        },
        "/openapi.json": {
            "get": _PUBLIC
            | _get("This document.", {"application/json": {"schema": {"type": "object"}}})
        },
        "/metrics": {"get": _get("Metrics for Prometheus.", _text("text/plain"))},
        "/api/tables": {"get": _get("The tables that the key may read.", json_of(TableList))},
        "/api/control": _control_path(),
        "/api/pipeline": {
            "get": _get("The pipeline's state and its generations.", json_of(PipelineResponse))
        },
        "/api/tables/{name}": _table_path(),
        "/api/tables/{name}/rows": _rows_path(),
        PATH: _live_path(),
    }


def _table_path() -> Json:
    codes = (Code.BAD_TABLE_NAME, Code.NO_RIGHTS, Code.NO_SUCH_TABLE)
    operation = _get("One table: columns, size, rate, freshness.", json_of(TableInfo), *codes)
    return {"parameters": [_TABLE_NAME], "get": operation}


def _control_path() -> Json:
    choices = json_of(ControlResponse)
    get = _get("What a control message may ask for.", choices, Code.NO_RIGHTS)
    post: Json = {
        "summary": "Send a control message; its verdict is a row of control_raw.",
        "requestBody": {"required": True, "content": json_of("ControlMessage")},
        "responses": {
            "202": {
                "description": "Accepted: the message is on the control topic.",
                "content": json_of(SentResponse),
            },
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
    return {"get": get, "post": post}


def _rows_path() -> Json:
    content: Json = {
        Format.JSON.media: {"schema": ref(RowsDocument)},
        Format.NDJSON.media: {"schema": ref("Row")},
        Format.CSV.media: {"schema": _TEXT},
        Format.ARROW.media: {"schema": _TEXT | {"contentEncoding": "binary"}},
    }
    operation = _get(
        "Rows, in order; streamed if there are many.",
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
        "get": operation | {"parameters": _rows_parameters()},
    }


def _rows_parameters() -> list[Json]:
    offset = _INTEGER | {"minimum": -MAX_OFFSET, "maximum": MAX_OFFSET}
    limit: Json = {"oneOf": [_INTEGER | {"minimum": 1, "maximum": MAX_OFFSET}, {"const": ALL}]}
    return [
        _query("columns", "Column names, separated by commas; all columns if left out.", _TEXT),
        {
            "name": "filter",
            "in": "query",
            "required": False,
            "description": "The condition that rows must meet.",
            "content": json_of(Filter),
        },
        _query("search", "Words that must occur in some column.", _TEXT),
        _query(
            "order",
            "Columns, separated by commas; - before a column: descending; :first or :last after "
            "it: where nulls go.",
            _TEXT | {"examples": ["-ts,name:first"]},
        ),
        _query("offset", "Rows to skip; negative: counted from the end.", offset),
        _query("limit", "The maximum number of rows.", limit | {"default": DEFAULT_LIMIT}),
        _query(
            "format",
            "The format; the Accept header can choose it too.",
            {"enum": [format_.value for format_ in Format], "default": Format.JSON.value},
        ),
        _query("guard", "CSV only: put ' before texts that look like formulas.", _BOOLEAN),
    ]


def _live_path() -> Json:
    operation: Json = {
        "summary": f"The live protocol: a WebSocket with sub-protocol {SUBPROTOCOL}.",
        "security": [{"key": []}, {}],
        "responses": {
            "101": {"description": "Switching protocols; the client sends `hello`."},
            **_errors((Code.UNSUPPORTED_PROTOCOL, Code.TOO_MANY_CONNECTIONS)),
        },
    }
    return {"get": operation}


def _get(summary: str, content: Json, *codes: Code) -> Json:
    ok: Json = {"description": "OK", "content": content}
    return {"summary": summary, "responses": {"200": ok, **_errors((*_ALWAYS, *codes))}}


def _text(media: str) -> Json:
    return {media: {"schema": _TEXT}}


def _errors(codes: Iterable[Code]) -> Json:
    by_status: dict[str, list[str]] = {}
    for code in codes:
        by_status.setdefault(str(code.http), []).append(code.value)
    return {
        status: {
            "description": "Error: " + ", ".join(names) + ".",
            "content": json_of(ErrorBody),
        }
        for status, names in sorted(by_status.items())
    }


def _query(name: str, description: str, schema: Json) -> Json:
    return {
        "name": name,
        "in": "query",
        "required": False,
        "description": description,
        "schema": schema,
    }
