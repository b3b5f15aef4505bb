"""The oracle: what every table must hold, computed from the messages alone.

Plain Python over the standard library. It imports nothing else of Evergrid and shares
no code with what it judges, so that one mistake cannot hide itself by being made twice.
It is written to be clear, not fast; a table of a hundred thousand rows takes seconds.
"""

from evergrid.testing.oracle.expected_tables import (
    Readings,
    Table,
    join,
    joined_rows,
    quarantine,
    raw,
)
from evergrid.testing.oracle.field import Value
from evergrid.testing.oracle.message import Bad, Message, Row, read
from evergrid.testing.oracle.spec import (
    JoinSpec,
    JoinType,
    LimitsSpec,
    SourceSpec,
    Spec,
    from_config,
)
from evergrid.testing.oracle.table_difference import differences, differing

__all__ = [
    "Bad",
    "JoinSpec",
    "JoinType",
    "LimitsSpec",
    "Message",
    "Readings",
    "Row",
    "SourceSpec",
    "Spec",
    "Table",
    "Value",
    "differences",
    "differing",
    "from_config",
    "join",
    "joined_rows",
    "quarantine",
    "raw",
    "read",
]
