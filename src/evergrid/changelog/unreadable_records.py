"""Records of the manifest that this version cannot read, and what is said about them.

Every record has a `format`. It grows only when an older reader could misread a record; new keys and
new fields leave it as it is. Records without one are of format 1.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from evergrid.config.value_types import TOPIC
from evergrid.model.errors import DataError
from evergrid.model.field_types import ColumnKind, parse_type
from evergrid.model.generation import TableTopic
from evergrid.model.printable import printable

FORMAT = 1
_MOST_PARTITIONS = 100_000
_KEY_LENGTH = 60
_KEYS_SHOWN = 5


class SkipReason(enum.Enum):
    """Why a record was skipped."""

    NEWER_FORMAT = "newer_format"
    INVALID = "invalid"


class UnreadableRecord(msgspec.Struct, frozen=True):
    """A record that was skipped. `why` may quote it, and is for the log alone."""

    reason: SkipReason
    why: str


class NewerFormat(DataError):
    """A record of a format that this version does not know."""


class _Formatted(msgspec.Struct, frozen=True):
    format: int = 1


_formats = msgspec.json.Decoder(_Formatted)


def check_format(value: bytes) -> None:
    """NewerFormat if only a newer version may read this record."""
    if (found := _formats.decode(value).format) > FORMAT:
        raise NewerFormat(f"it has format {found}, and this version reads formats up to {FORMAT}")


def check_tables(tables: Mapping[str, TableTopic]) -> None:
    """DataError if these cannot be read as tables, whatever is in their changelogs."""
    for name, target in tables.items():
        if not TOPIC.accepts(target.topic) or not 1 <= target.partitions <= _MOST_PARTITIONS:
            raise DataError(f"table {name} has no valid topic or number of partitions")
        table = target.table
        types = {column.name: column.type for column in table.columns}
        is_known = all(parse_type(str(it)) for it in types.values())
        if len(types) < len(table.columns) or not is_known:
            raise DataError(f"table {name} has a column twice, or one of an invalid type")
        if unknown := sorted({*table.row_id, *table.order, *table.version} - types.keys()):
            raise DataError(f"table {name} has no column {unknown[0]}")
        first = types[table.order[0]].kind if table.order else None
        if not table.row_id or first is not ColumnKind.TIMESTAMP:
            raise DataError(f"table {name} has no row id, or its order does not begin with a time")
        if min(table.retention.rows or 0, table.retention.age_seconds or 0) < 0:
            raise DataError(f"table {name} has a negative retention")


def shown_key(key: bytes) -> str:
    """A record's key as text, cut if it is long."""
    text = printable(key.decode(errors="replace"))
    return text if len(text) <= _KEY_LENGTH else f"{text[: _KEY_LENGTH - 1]}…"


def unreadable_text(records: Mapping[bytes, UnreadableRecord], reader: str = "gateway") -> str:
    """Sentences for people about the records that cannot be read; empty if there are none."""
    sentences = {
        SkipReason.NEWER_FORMAT: f"were written by a newer Evergrid; upgrade the {reader}.",
        SkipReason.INVALID: "are invalid and were skipped; the last valid values hold.",
    }
    found = []
    for reason, sentence in sentences.items():
        if keys := sorted(shown_key(key) for key, it in records.items() if it.reason is reason):
            more = ", …" if len(keys) > _KEYS_SHOWN else ""
            shown = ", ".join(keys[:_KEYS_SHOWN])
            found.append(f"Records of the manifest ({shown}{more}) {sentence}")
    return " ".join(found)


def unreadable_log_line(key: bytes, record: UnreadableRecord, reader: str) -> str:
    """One line for the log; `reader` is what must be upgraded if the record is newer."""
    what_to_do = (
        f"It was written by a newer Evergrid; upgrade the {reader}."
        if record.reason is SkipReason.NEWER_FORMAT
        else "Find out what wrote it; a tombstone under its key removes it."
    )
    return (
        f"Record {shown_key(key)} of the manifest was skipped: {printable(record.why)}. The last "
        f"valid value holds. {what_to_do}"
    )
