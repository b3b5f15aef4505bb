"""The HTTP interface in OpenAPI 3.1, for people's tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evergrid.gateway.http.parameters import ALL, Format
from evergrid.gateway.live.wishes import FURTHEST
from evergrid.model.table import NAME, Role
from evergrid.model.types import Kind
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import DEFAULT_LIMIT, PATH, SUBPROTOCOL, Live
from evergrid.views.query import Op

Json = dict[str, object]

_TEXT: Json = {"type": "string"}
_INTEGER: Json = {"type": "integer", "format": "int64"}
_NUMBER: Json = {"type": "number"}
_BOOLEAN: Json = {"type": "boolean"}
_OPEN: Json = {"security": []}
_NAME = f"^{NAME.pattern}$"


def description(version: str) -> Json:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Evergrid gateway",
            "version": version,
            "description": "Live tables, read only. Every error has a stable code.",
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
            "schemas": _schemas(),
        },
    }


def _paths() -> Json:
    return {
        "/": {"get": _OPEN | _operation("A page with links.", {"text/html": _TEXT})},
        "/livez": {
            "get": _OPEN
            | _operation("Whether the process runs.", _json(_object({"alive": _BOOLEAN})))
        },
        "/readyz": {
            "get": _OPEN
            | _operation("Whether all tables are loaded.", _json(_ref("Readiness")))
            | _with_errors(_json(_ref("Readiness")), Code.NOT_READY)
        },
        "/openapi.json": {
            "get": _OPEN | _operation("This description.", _json({"type": "object"}))
        },
        "/metrics": {"get": _operation("Metrics for Prometheus.", {"text/plain": _TEXT})},
        "/api/tables": {
            "get": _operation(
                "The tables that the key may read.",
                _json(_object({"tables": _list(_ref("Table"))})),
            )
        },
        "/api/tables/{name}": _table_path(),
        "/api/tables/{name}/rows": _rows_path(),
        PATH: _live_path(),
    }


def _table_path() -> Json:
    content = _json(_ref("Table"))
    operation = _operation("One table: columns, size, rate, freshness.", content)
    errors = _with_errors(content, Code.BAD_TABLE_NAME, Code.NO_RIGHTS, Code.NO_SUCH_TABLE)
    return {"parameters": [_TABLE_NAME], "get": operation | errors}


def _rows_path() -> Json:
    content: Json = {
        Format.JSON.media: {"schema": _ref("Rows")},
        Format.NDJSON.media: {"schema": _ref("Row")},
        Format.CSV.media: {"schema": _TEXT},
        Format.ARROW.media: {"schema": _TEXT | {"contentEncoding": "binary"}},
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
    integer = _INTEGER | {"minimum": -FURTHEST, "maximum": FURTHEST}
    limit: Json = {"oneOf": [_INTEGER | {"minimum": 1, "maximum": FURTHEST}, {"const": ALL}]}
    return [
        _query("columns", "Names with commas between; all of them if left out.", _TEXT),
        _query(
            "filter",
            "What rows must be like.",
            {"contentMediaType": "application/json", **_TEXT},
            content=_json(_ref("Filter")),
        ),
        _query("search", "Words that must be in some column.", _TEXT),
        _query(
            "order",
            "Columns with commas between; - before one: descending; :first or :last after it: "
            "where nulls go.",
            _TEXT | {"examples": ["-ts,name:first"]},
        ),
        _query("offset", "Rows left out; negative: counted from the end.", integer),
        _query("limit", "Rows at most.", limit | {"default": DEFAULT_LIMIT}),
        _query(
            "format",
            "Also by the Accept header.",
            {"enum": [format_.value for format_ in Format], "default": Format.JSON.value},
        ),
        _query("guard", "In CSV: ' before texts that look like formulas.", _BOOLEAN),
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
    always = (Code.KEY_IN_ADDRESS, Code.NOT_LOGGED_IN, Code.ORIGIN_REFUSED, Code.HOST_REFUSED)
    return {"responses": {"200": ok, **_errors((*always, *codes))}}


def _errors(codes: Iterable[Code]) -> Json:
    by_status: dict[str, list[str]] = {}
    for code in codes:
        by_status.setdefault(str(code.http), []).append(code.value)
    return {
        status: {
            "description": "Refused: " + ", ".join(names) + ".",
            "content": _json(_ref("Error")),
        }
        for status, names in sorted(by_status.items())
    }


def _query(name: str, sentence: str, schema: Json, content: Json | None = None) -> Json:
    shape: Json = {"content": content} if content else {"schema": schema}
    return {"name": name, "in": "query", "required": False, "description": sentence, **shape}


def _schemas() -> Json:
    cell: Json = {"type": ["string", "number", "boolean", "null"]}
    return {
        "Error": _object(
            {
                "error": _object(
                    {
                        "code": {"enum": [code.value for code in Code]},
                        "message": _TEXT,
                        "retry": _BOOLEAN | {"description": "Whether to try again later."},
                    }
                )
            }
        ),
        "Readiness": _object({"ready": _BOOLEAN, "message": _TEXT}),
        "Column": _object(
            {
                "name": _TEXT,
                "type": _ref("Type"),
                "role": {"enum": [role.value for role in Role]},
            }
        ),
        "Type": {
            **_object({"kind": {"enum": [kind.value for kind in Kind]}}),
            "properties": {
                "kind": {"enum": [kind.value for kind in Kind]},
                "precision": _INTEGER,
                "scale": _INTEGER,
                "unit": _TEXT,
            },
        },
        "Table": _table_schema(),
        "Row": {"type": "object", "additionalProperties": cell},
        "Rows": _object(
            {
                "table": _TEXT,
                "generation": _INTEGER,
                "columns": _list(_ref("Column")),
                "total": {"type": ["integer", "null"]},
                "rows": _list(_ref("Row")),
            }
        ),
        "Filter": _filter_schema(cell),
    }


def _table_schema() -> Json:
    integers = "generation rows bytes max_rows max_bytes changes newest since views done total"
    return _object(
        {
            "name": _TEXT | {"pattern": _NAME},
            "state": {"enum": [state.value for state in Live]},
            "message": _TEXT,
            "columns": _list(_ref("Column")),
            "changes_per_second": _NUMBER,
            "lag_seconds": _NUMBER,
        }
        | dict.fromkeys(integers.split(), _INTEGER)
    )


def _filter_schema(cell: Json) -> Json:
    several = _list(_ref("Filter"))
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "column": _TEXT,
            "op": {"enum": [op.value for op in Op]},
            "value": {"oneOf": [cell, _list(cell)]},
            "ignore_case": _BOOLEAN,
            "and": several,
            "or": several,
        },
    }


def _object(properties: Mapping[str, object]) -> Json:
    return {"type": "object", "required": list(properties), "properties": dict(properties)}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


_TABLE_NAME: Json = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "A table's name.",
    "schema": _TEXT | {"pattern": _NAME},
}
