"""The HTTP interface as an OpenAPI 3.1 document; its schemas are made from the handlers' types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from evergrid.gateway.access.json_response import ErrorBody
from evergrid.gateway.access.open_sessions import SessionInfo
from evergrid.gateway.access.request_checks import MAX_OFFSET
from evergrid.gateway.engine.table_engine import TableInfo
from evergrid.gateway.http.api import Liveness, Readiness, TableList
from evergrid.gateway.http.assets import CLIENT
from evergrid.gateway.http.control_endpoint import ControlResponse, SentResponse
from evergrid.gateway.http.pipeline_status import PipelineResponse
from evergrid.gateway.http.row_formats import Row, RowsDocument
from evergrid.gateway.http.row_parameters import ALL, Format
from evergrid.gateway.http.sessions_endpoint import SessionList
from evergrid.model.gap import GapReason
from evergrid.model.table import NAME
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import DEFAULT_LIMIT, PATH, SUBPROTOCOL
from evergrid.views.view_query import Filter

Json = dict[str, Any]

# What requests and responses contain; the types within them follow from that.
_TYPES = (
    ControlResponse,
    ErrorBody,
    Filter,
    Liveness,
    PipelineResponse,
    Readiness,
    RowsDocument,
    SentResponse,
    SessionInfo,
    SessionList,
    TableInfo,
    TableList,
)
# Types with another name in the document than in the code; clients may rely on it.
_RENAMED = {
    "Code": "ErrorCode",
    "ColumnKind": "TypeKind",
    "ControlChoices": "Control",
    "ErrorBody": "Error",
    "FieldType": "Type",
    "GenerationStatus": "Generation",
    "JoinStatus": "Join",
    "Live": "TableState",
    "Op": "FilterOperator",
    "PipelineHealth": "PipelineState",
    "PipelineStatus": "Pipeline",
    "Role": "ColumnRole",
    "RowsDocument": "Rows",
    "SessionInfo": "Session",
    "SourceStatus": "Source",
    "State": "GenerationState",
    "TableInfo": "Table",
}
_OMIT_DEFAULTS = ("Filter", "Type")  # the gateway writes all fields of the others
_SCHEMAS = "#/components/schemas/"
_GAP_FIELDS = {
    "reason": " ".join(f"{reason.value}: {reason.sentence()}" for reason in GapReason),
    "messages": "Messages left out of the join so far; rows or changes, if the gateway lacks them.",
    "keys": "The join keys that are affected, the newest only.",
    "since": "When the first was left out, in microseconds since the epoch.",
}
# The fields of a control message are named after the configured sources and joins.
_CONTROL_MESSAGE: Json = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": ["string", "null"]},
    "examples": [{"usersTopic": "users_v2", "joinType": "left"}],
}

_TEXT: Json = {"type": "string"}
_INTEGER: Json = {"type": "integer", "format": "int64"}
_ALWAYS = (Code.KEY_IN_ADDRESS, Code.NOT_LOGGED_IN, Code.ORIGIN_REFUSED, Code.HOST_REFUSED)
_OF_ONE_TABLE = (Code.BAD_TABLE_NAME, Code.NO_RIGHTS, Code.NO_SUCH_TABLE)
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
            "schemas": _schemas(),
        },
    }


def _paths() -> Json:
    document: Json = {"application/json": {"schema": {"type": "object"}}}
    public = {
        "/": _get("The web app.", _text("text/html")),
        CLIENT: _get("The browser client.", _text("text/javascript")),
        "/livez": _get("Whether the process runs.", _json(Liveness)),
        "/readyz": _get("Whether all tables are loaded.", _json(Readiness), Code.NOT_READY),
        "/openapi.json": _get("This document.", document),
    }
    table = _get("One table: columns, size, rate, freshness.", _json(TableInfo), *_OF_ONE_TABLE)
    pipeline = _get("The pipeline's state and its generations.", _json(PipelineResponse))
    sessions = _get("The open sessions; needs `admin`.", _json(SessionList), Code.NO_RIGHTS)
    return {
        **{path: {"get": {"security": []} | operation} for path, operation in public.items()},
        "/metrics": {"get": _get("Metrics for Prometheus.", _text("text/plain"))},
        "/api/tables": {"get": _get("The tables that the key may read.", _json(TableList))},
        "/api/control": _control_path(),
        "/api/pipeline": {"get": pipeline},
        "/api/sessions": {"get": sessions},
        "/api/sessions/{id}": _session_path(),
        "/api/tables/{name}": {"parameters": [_TABLE_NAME], "get": table},
        "/api/tables/{name}/rows": {"parameters": [_TABLE_NAME], "get": _rows()},
        PATH: {"get": _live()},
    }


def _session_path() -> Json:
    codes, session = (Code.NO_RIGHTS, Code.NOT_FOUND), _json(SessionInfo)
    parameter: Json = {"name": "id", "in": "path", "required": True, "schema": _TEXT}
    return {
        "parameters": [parameter],
        "get": _get("One open session; needs `admin`.", session, *codes),
        "delete": _get("End a session, and show what it was; needs `admin`.", session, *codes),
    }


def _control_path() -> Json:
    of_message = (Code.BAD_CONTROL, Code.BAD_CONTENT_TYPE, Code.TOO_LARGE, Code.SILENT)
    codes = (*_ALWAYS, Code.NO_RIGHTS, *of_message, Code.TOO_MANY_MESSAGES, Code.NOT_SENT)
    accepted: Json = {
        "description": "Accepted: the message is on the control topic.",
        "content": _json(SentResponse),
    }
    post: Json = {
        "summary": "Send a control message; its verdict is a row of control_raw.",
        "requestBody": {"required": True, "content": _json("ControlMessage")},
        "responses": {"202": accepted, **_errors(codes)},
    }
    get = _get("What a control message may ask for.", _json(ControlResponse), Code.NO_RIGHTS)
    return {"get": get, "post": post}


def _rows() -> Json:
    content: Json = {
        Format.JSON.media: {"schema": _ref(RowsDocument)},
        Format.NDJSON.media: {"schema": _ref("Row")},
        Format.CSV.media: {"schema": _TEXT},
        Format.ARROW.media: {"schema": _TEXT | {"contentEncoding": "binary"}},
    }
    of_query = (Code.UNKNOWN_COLUMN, Code.BAD_FILTER, Code.BAD_VALUE, Code.BAD_ORDER)
    of_window = (Code.BAD_SEARCH, Code.BAD_WINDOW, Code.NOT_READY, Code.TOO_MANY_EXPORTS)
    codes = (Code.BAD_PARAMETER, *_OF_ONE_TABLE, *of_query, *of_window)
    operation = _get("Rows, in order; streamed if there are many.", content, *codes)
    return operation | {"parameters": _rows_parameters()}


def _rows_parameters() -> list[Json]:
    formats = {"enum": [format_.value for format_ in Format], "default": Format.JSON.value}
    offset = _INTEGER | {"minimum": -MAX_OFFSET, "maximum": MAX_OFFSET}
    limit = {
        "oneOf": [_INTEGER | {"minimum": 1, "maximum": MAX_OFFSET}, {"const": ALL}],
        "default": DEFAULT_LIMIT,
    }
    order = (
        "Columns, separated by commas; - before a column: descending; :first or :last after it: "
        "where nulls go."
    )
    columns = "Column names, separated by commas; all columns if left out."
    guard = "CSV only: put ' before texts that look like formulas."
    return [
        _query("columns", columns, schema=_TEXT),
        _query("filter", "The condition that rows must meet.", content=_json(Filter)),
        _query("search", "Words that must occur in some column.", schema=_TEXT),
        _query("order", order, schema=_TEXT | {"examples": ["-ts,name:first"]}),
        _query("offset", "Rows to skip; negative: counted from the end.", schema=offset),
        _query("limit", "The maximum number of rows.", schema=limit),
        _query("format", "The format; the Accept header can choose it too.", schema=formats),
        _query("guard", guard, schema={"type": "boolean"}),
    ]


def _live() -> Json:
    return {
        "summary": f"The live protocol: a WebSocket with sub-protocol {SUBPROTOCOL}.",
        "security": [{"key": []}, {}],
        "responses": {
            "101": {"description": "Switching protocols; the client sends `hello`."},
            **_errors((Code.UNSUPPORTED_PROTOCOL, Code.TOO_MANY_CONNECTIONS)),
        },
    }


def _get(summary: str, content: Json, *codes: Code) -> Json:
    ok: Json = {"description": "OK", "content": content}
    return {"summary": summary, "responses": {"200": ok, **_errors((*_ALWAYS, *codes))}}


def _errors(codes: Iterable[Code]) -> Json:
    by_status: dict[str, list[str]] = {}
    for code in codes:
        by_status.setdefault(str(code.http), []).append(code.value)
    return {
        status: {"description": f"Error: {', '.join(names)}.", "content": _json(ErrorBody)}
        for status, names in sorted(by_status.items())
    }


def _query(name: str, description: str, **form: Json) -> Json:
    fixed = {"in": "query", "required": False}
    return {"name": name, "description": description, **fixed, **form}


def _text(media: str) -> Json:
    return {media: {"schema": _TEXT}}


def _json(of: type | str) -> Json:
    return {"application/json": {"schema": _ref(of)}}


def _ref(of: type | str) -> Json:
    """A reference to the schema of a type, or to one by its name."""
    return {"$ref": _SCHEMAS + _name(of if isinstance(of, str) else of.__name__)}


def _name(of: str) -> str:
    return _RENAMED.get(of, of)


def _schemas() -> Json:
    """All schemas by name."""
    _, made = msgspec.json.schema_components(_TYPES, ref_template=f"{_SCHEMAS}{{name}}")
    found = {_name(type_): schema for type_, schema in made.items()}
    for name, schema in found.items():
        _adapt(schema)
        if "properties" in schema and name not in _OMIT_DEFAULTS:
            schema["required"] = list(schema["properties"])
            for field in schema["properties"].values():
                field.pop("default", None)
    found["Rows"]["properties"]["rows"]["items"] = _ref("Row")
    for field, text in _GAP_FIELDS.items():
        found["Gap"]["properties"][field]["description"] = text
    return {**found, "Row": msgspec.json.schema(Row), "ControlMessage": _CONTROL_MESSAGE}


def _adapt(schema: Any) -> None:
    """Change msgspec's schema in place: our names, 64-bit integers, one-paragraph descriptions."""
    if isinstance(schema, list):
        for one in schema:
            _adapt(one)
    if not isinstance(schema, dict):
        return
    schema.pop("title", None)
    if schema.get("type") == "integer":
        schema["format"] = "int64"
    if isinstance(text := schema.get("description"), str):
        schema["description"] = " ".join(text.partition("\n\n")[0].split())
    if isinstance(path := schema.get("$ref"), str):
        schema["$ref"] = _SCHEMAS + _name(path.removeprefix(_SCHEMAS))
    for key, value in schema.items():
        if key != "default":
            _adapt(value)
