"""Debug lines with the ids by which one can follow a message to its viewers.

applied     a row of a changelog is in its table: topic, table, rows
published   a window has a new state: table, generation, sequence, and the rows that it sends
sent        a frame was written to a client's socket: session, sub, generation, sequence
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

LOG = logging.getLogger("evergrid.log")

_IDS_AT_ONCE = 500


def is_on() -> bool:
    """Asked first, because the ids cost more than the line that is not written."""
    return LOG.isEnabledFor(logging.DEBUG)


def trace(text: str, **ids: object) -> None:
    LOG.debug(text, extra={"ids": ids})


def trace_rows(text: str, row_ids: Callable[[], Sequence[str]], **ids: object) -> None:
    """The same about many rows, in lines of a bounded length."""
    if not is_on():
        return
    found = list(row_ids())
    for start in range(0, len(found), _IDS_AT_ONCE):
        trace(text, **ids, rows=found[start : start + _IDS_AT_ONCE])
