"""The judge: what every table must hold, worked out naively from the messages alone.

Plain Python over the standard library. It imports nothing else of Evergrid and shares
no code with what it judges, so that one mistake cannot hide itself by being made twice.
Clear and slow is right here.
"""

from evergrid.testing.oracle.difference import differences
from evergrid.testing.oracle.joining import join
from evergrid.testing.oracle.message import Bad, Message, Row, Table, Value
from evergrid.testing.oracle.raw import quarantine, raw
from evergrid.testing.oracle.reading import read
from evergrid.testing.oracle.spec import (
    JoinSpec,
    JoinType,
    LimitsSpec,
    SourceSpec,
    Spec,
    from_config,
)

__all__ = [
    "Bad",
    "JoinSpec",
    "JoinType",
    "LimitsSpec",
    "Message",
    "Row",
    "SourceSpec",
    "Spec",
    "Table",
    "Value",
    "differences",
    "from_config",
    "join",
    "quarantine",
    "raw",
    "read",
]
