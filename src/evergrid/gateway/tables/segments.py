"""Records of a changelog as what a store takes: batches of rows, and deletes between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from evergrid.changelog.arrow_reader import RowReader
from evergrid.changelog.reader import Record
from evergrid.gateway.tables.keeper import Segment


def segments(records: Sequence[Record], reader: RowReader) -> tuple[list[Segment], list[Record]]:
    """Segments in the order of the records, and the records that are no rows of this table."""
    made: list[Segment] = []
    bad: list[Record] = []
    for is_delete, run in _runs(records):
        if is_delete:
            made.append(
                [record.key.decode(errors="replace") for record in run if record.key is not None]
            )
            continue
        rows, wrong = reader.read([record.value for record in run if record.value is not None])
        made.append(rows)
        bad += [run[i] for i in wrong]
    return made, bad


def _runs(records: Sequence[Record]) -> Iterator[tuple[bool, list[Record]]]:
    for is_delete, run in groupby(records, key=lambda record: record.value is None):
        yield is_delete, list(run)
