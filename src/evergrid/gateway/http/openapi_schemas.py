"""The JSON schemas of the HTTP interface, made from the types of its requests and responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from evergrid.changelog.manifest import Gap
from evergrid.gateway.access.json_response import ErrorBody, ErrorDetail
from evergrid.gateway.engine.pipeline_health import PipelineHealth
from evergrid.gateway.engine.table_engine import TableInfo
from evergrid.gateway.http.api import Liveness, Readiness, TableList
from evergrid.gateway.http.control_endpoint import (
    ControlChoices,
    ControlResponse,
    JoinChoice,
    MessagePosition,
    SentResponse,
    SourceChoice,
)
from evergrid.gateway.http.pipeline_status import (
    GenerationStatus,
    JoinStatus,
    PipelineResponse,
    PipelineStatus,
    SourceStatus,
)
from evergrid.gateway.http.row_formats import Row, RowsDocument
from evergrid.model.field_types import ColumnKind, FieldType, TimeUnit
from evergrid.model.gap import GapReason
from evergrid.model.generation import Progress, State
from evergrid.model.join import JoinType
from evergrid.model.table import Column, Role
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import Live
from evergrid.views.view_query import Filter, Op

Json = dict[str, Any]

# The name of each type in the document; clients may rely on these.
_NAMES: Mapping[type, str] = {
    ControlChoices: "Control",
    ControlResponse: "ControlResponse",
    Code: "ErrorCode",
    Column: "Column",
    ErrorBody: "Error",
    ErrorDetail: "ErrorDetail",
    FieldType: "Type",
    Filter: "Filter",
    Gap: "Gap",
    GenerationStatus: "Generation",
    JoinChoice: "JoinChoice",
    JoinStatus: "Join",
    JoinType: "JoinType",
    ColumnKind: "TypeKind",
    Live: "TableState",
    Liveness: "Liveness",
    MessagePosition: "MessagePosition",
    Op: "FilterOperator",
    PipelineResponse: "PipelineResponse",
    PipelineHealth: "PipelineState",
    PipelineStatus: "Pipeline",
    Progress: "Progress",
    Readiness: "Readiness",
    Role: "ColumnRole",
    RowsDocument: "Rows",
    SentResponse: "SentResponse",
    SourceChoice: "SourceChoice",
    SourceStatus: "Source",
    State: "GenerationState",
    TableInfo: "Table",
    TableList: "TableList",
    TimeUnit: "TimeUnit",
}
_BY_CLASS = {type_.__name__: name for type_, name in _NAMES.items()}
_PATH = "#/components/schemas/"

_GAP_FIELDS = {
    "reason": " ".join(f"{reason.value}: {reason.sentence()}" for reason in GapReason),
    "messages": "Messages left out of the join so far.",
    "keys": "The join keys that are affected, the newest only.",
    "since": "When the first message was left out, in microseconds since the epoch.",
}
# The fields of a control message are named after the configured sources and joins.
_CONTROL_MESSAGE: Json = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": ["string", "null"]},
    "examples": [{"usersTopic": "users_v2", "joinType": "left"}],
}


def schemas() -> Json:
    """All schemas by name."""
    _, made = msgspec.json.schema_components(_NAMES, ref_template=f"{_PATH}{{name}}")
    for schema in made.values():
        _adapt(schema)
    found = {name: made[type_.__name__] for type_, name in _NAMES.items()}
    for type_, name in _NAMES.items():
        if issubclass(type_, msgspec.Struct) and not type_.__struct_config__.omit_defaults:
            _require_all(found[name])
    found["Rows"]["properties"]["rows"]["items"] = ref("Row")
    for field, text in _GAP_FIELDS.items():
        found["Gap"]["properties"][field]["description"] = text
    return {**found, "Row": msgspec.json.schema(Row), "ControlMessage": _CONTROL_MESSAGE}


def ref(of: type | str) -> Json:
    """A reference to the schema of a type, or to one by its name."""
    return {"$ref": _PATH + (of if isinstance(of, str) else _NAMES[of])}


def json_of(of: type | str) -> Json:
    """The content of a request or response in JSON."""
    return {"application/json": {"schema": ref(of)}}


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
        schema["$ref"] = _PATH + _BY_CLASS[path.removeprefix(_PATH)]
    for key, value in schema.items():
        if key != "default":
            _adapt(value)


def _require_all(schema: Json) -> None:
    """The gateway writes all fields of such a type: its defaults are those of the constructor."""
    schema["required"] = list(schema["properties"])
    for field in schema["properties"].values():
        field.pop("default", None)
