"""A generation: one configuration of sources and joins, from its first row to its end."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from evergrid.model.join import Join
from evergrid.model.source import Source
from evergrid.model.table import Table


class State(enum.Enum):
    """The state of a generation; screens show only the current one.

    A generation that was replaced is retiring while its data are kept, and then gone.
    """

    PREPARING = "preparing"
    READY = "ready"
    CURRENT = "current"
    RETIRING = "retiring"
    GONE = "gone"
    FAILED = "failed"


class SourceTopic(msgspec.Struct, frozen=True):
    """The topic that a generation reads, and its start offsets.

    A topic that was deleted and created again has the same name and another id. `raw` is the number
    of the generation that made the raw table of this source, at `made` (microseconds since the
    epoch): later generations share it.
    """

    topic_id: str
    start: Mapping[int, int]
    raw: int = 0
    made: int = 0


class TableTopic(msgspec.Struct, frozen=True):
    """A table of a generation and the changelog that holds it.

    `ready_offsets` are the changelog's ends at the moment the generation became ready:
    a reader that has applied that much has the whole table.
    """

    table: Table
    topic: str
    partitions: int
    ready_offsets: Mapping[int, int] = {}


class Progress(msgspec.Struct, frozen=True):
    """The progress of a generation's preparation."""

    step: str
    done: int
    total: int


class Times(msgspec.Struct, frozen=True):
    """Times of a generation's states, in microseconds since the epoch; 0 if not reached yet."""

    created: int = 0
    ready: int = 0
    current: int = 0
    ended: int = 0


# The format of checkpoints that this version writes and can continue from. 3: an inner join keeps
# messages for twice its age; states before lack some that new messages need. 4: a left join has an
# index of keys in its state instead of Spark's timers.
ENGINE = 4


class Generation(msgspec.Struct, frozen=True):
    """One configuration of sources and joins, with its topics, tables and state.

    `cause` is the row id of the control message that asked for it; empty: the configuration.
    `engine` is the format of its checkpoints; the first versions had none.
    """

    number: int
    state: State
    sources: Mapping[str, Source]
    joins: Mapping[str, Join]
    topics: Mapping[str, SourceTopic]
    tables: Mapping[str, TableTopic]
    times: Times
    progress: Progress | None = None
    error: str = ""
    cause: str = ""
    engine: int = 1
