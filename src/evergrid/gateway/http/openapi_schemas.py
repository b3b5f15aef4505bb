"""What the HTTP interface's answers look like, as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping

from evergrid.gateway.engine.pipeline_health import Health
from evergrid.model.gap import GapReason
from evergrid.model.generation import State
from evergrid.model.join import JoinType
from evergrid.model.table import NAME, Role
from evergrid.model.types import Kind
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import Live
from evergrid.views.query import Op

Json = dict[str, object]

TEXT: Json = {"type": "string"}
INTEGER: Json = {"type": "integer", "format": "int64"}
NUMBER: Json = {"type": "number"}
BOOLEAN: Json = {"type": "boolean"}
NAME_PATTERN = f"^{NAME.pattern}$"


def schemas() -> Json:
    cell: Json = {"type": ["string", "number", "boolean", "null"]}
    return {
        "Error": object_of(
            {
                "error": object_of(
                    {
                        "code": {"enum": [code.value for code in Code]},
                        "message": TEXT,
                        "retry": BOOLEAN | {"description": "Whether to try again later."},
                    }
                )
            }
        ),
        "Readiness": object_of({"ready": BOOLEAN, "message": TEXT}),
        "Column": object_of(
            {
                "name": TEXT,
                "type": ref("Type"),
                "role": {"enum": [role.value for role in Role]},
            }
        ),
        "Type": {
            **object_of({"kind": {"enum": [kind.value for kind in Kind]}}),
            "properties": {
                "kind": {"enum": [kind.value for kind in Kind]},
                "precision": INTEGER,
                "scale": INTEGER,
                "unit": TEXT,
            },
        },
        "Table": _table_schema(),
        "Gap": _gap_schema(),
        "Pipeline": _pipeline_schema(),
        "Generation": _generation_schema(),
        "Control": _control_schema(),
        "ControlMessage": _message_schema(),
        "Row": {"type": "object", "additionalProperties": cell},
        "Rows": object_of(
            {
                "table": TEXT,
                "generation": INTEGER,
                "columns": list_of(ref("Column")),
                "total": {"type": ["integer", "null"]},
                "rows": list_of(ref("Row")),
            }
        ),
        "Filter": _filter_schema(cell),
    }


def _table_schema() -> Json:
    integers = "generation rows bytes max_rows max_bytes changes newest since views done total"
    return object_of(
        {
            "name": TEXT | {"pattern": NAME_PATTERN},
            "state": {"enum": [state.value for state in Live]},
            "message": TEXT,
            "columns": list_of(ref("Column")),
            "gaps": list_of(ref("Gap")),
            "changes_per_second": NUMBER,
            "lag_seconds": NUMBER,
        }
        | dict.fromkeys(integers.split(), INTEGER)
    )


def _gap_schema() -> Json:
    known = [f"{reason.value}: {reason.sentence()}" for reason in GapReason]
    return object_of(
        {
            "reason": TEXT | {"description": " ".join(known)},
            "messages": INTEGER | {"description": "Messages left out of the join so far."},
            "keys": list_of(TEXT) | {"description": "Join keys that are affected, the newest."},
            "since": INTEGER,
        }
    )


def _pipeline_schema() -> Json:
    return object_of(
        {
            "state": {"enum": [health.value for health in Health]},
            "message": TEXT,
            "beat": INTEGER,
            "current": INTEGER,
            "generations": list_of(ref("Generation")),
        }
    )


def _generation_schema() -> Json:
    progress = object_of({"step": TEXT, "done": INTEGER, "total": INTEGER})
    kinds: Json = {"enum": [kind.value for kind in JoinType]}
    join = dict.fromkeys(["name", "table", "left", "right"], TEXT) | {"type": kinds}
    return object_of(
        {
            "generation": INTEGER,
            "state": {"enum": [state.value for state in State]},
            "created": INTEGER,
            "changed": INTEGER,
            "kept_until": INTEGER,
            "progress": {"oneOf": [progress, {"type": "null"}]},
            "error": TEXT,
            "sources": list_of(object_of(dict.fromkeys(["name", "topic", "table"], TEXT))),
            "joins": list_of(object_of(join)),
            "tables": list_of(TEXT),
        }
    )


def _control_schema() -> Json:
    source = dict.fromkeys(["name", "field", "topic"], TEXT)
    join = dict.fromkeys(["name", "field", "type"], TEXT)
    return object_of(
        {
            "topic": TEXT,
            "topics": list_of(TEXT),
            "sources": list_of(object_of(source)),
            "joins": list_of(object_of(join)),
            "types": list_of({"enum": [kind.value for kind in JoinType]}),
        }
    )


def _message_schema() -> Json:
    """Its fields are named after the sources and joins, so that only their form is known here."""
    return {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"type": ["string", "null"]},
        "examples": [{"usersTopic": "users_v2", "joinType": "left"}],
    }


def _filter_schema(cell: Json) -> Json:
    several = list_of(ref("Filter"))
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "column": TEXT,
            "op": {"enum": [op.value for op in Op]},
            "value": {"oneOf": [cell, list_of(cell)]},
            "ignore_case": BOOLEAN,
            "and": several,
            "or": several,
        },
    }


def object_of(properties: Mapping[str, object]) -> Json:
    return {"type": "object", "required": list(properties), "properties": dict(properties)}


def list_of(items: Json) -> Json:
    return {"type": "array", "items": items}


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def json_of(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}
