"""Frames and messages as a gateway writes them, for what must be sent at an exact moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from evergrid.model.field_types import FLOAT, TEXT
from evergrid.model.table import Column
from evergrid.protocol.frames import Description, FrameKind, Header, addressed, encode_shared
from evergrid.protocol.messages import Live, State, Welcome, encode

Row = Mapping[str, object]
Parts = tuple[tuple[int, int], ...]

SCHEMA = pa.schema([("_id", pa.string()), ("name", pa.string()), ("size", pa.float64())])
COLUMNS = (Column("name", TEXT), Column("size", FLOAT))
END = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def batch(rows: Sequence[Row], schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([dict(row) for row in rows], schema=schema)


def header(kind: FrameKind, sequence: int, rows: int, base: int = 0, **others: int) -> Header:
    given = {"generation": 1, "total": rows, "offset": 0, "time": 1_767_225_600_000_000} | others
    return Header(kind=kind, sequence=sequence, base=base, rows=rows, **given)


def full(
    sub: int, sequence: int, rows: Sequence[Row], schema: pa.Schema = SCHEMA, **others: int
) -> bytes:
    data = batch(rows, schema)
    body = schema.serialize().to_pybytes() + data.serialize().to_pybytes() + END
    head = header(FrameKind.FULL, sequence, len(rows), **others)
    return addressed(sub, encode_shared(head, Description(columns=COLUMNS), body))


def difference(
    sub: int, sequence: int, base: int, parts: Parts, rows: Sequence[Row], **others: int
) -> bytes:
    body = batch(rows).serialize().to_pybytes() + END
    count = sum(count for _, count in parts)
    head = header(FrameKind.DIFFERENCE, sequence, count, base, **others)
    return addressed(sub, encode_shared(head, Description(parts=parts), body))


def welcome(instance: str = "first", **others: object) -> str:
    return encode(
        Welcome(
            protocol=1,
            instance=instance,
            server="evergrid",
            key="tests",
            control=False,
            heart_seconds=float(str(others.get("heart_seconds", 5.0))),
            max_windows=64,
            max_rows=5000,
            max_message_bytes=16384,
        )
    )


def state(sub: int, live: Live, message: str = "", since: int = 0) -> str:
    return encode(State(live, message, since, sub=sub))


def row(number: int, name: str | None = "ann", size: float | None = 1.0) -> Row:
    return {"_id": f"0:{number}", "name": name, "size": size}
