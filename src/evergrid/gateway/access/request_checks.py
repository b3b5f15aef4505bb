"""Checks of a request for a table's rows, before the engine gets it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evergrid.gateway.access.access_key import AccessKey
from evergrid.gateway.access.request_error import RequestError
from evergrid.model.table import NAME
from evergrid.protocol.error_codes import Code
from evergrid.views.predicate import MAX_NESTING
from evergrid.views.view_query import Filter, Query, Window

MAX_OFFSET = 2**53  # JavaScript has exact integers up to here
_SHOWN_CHARACTERS = 80


def check_name(table: str) -> None:
    """The table's name is well-formed; the table need not exist."""
    if not NAME.fullmatch(table):
        raise RequestError(
            Code.BAD_TABLE_NAME,
            f"bad table name {shown(table)}",
            remedy="Use letters, digits and _, and no digit first.",
        )


def check_rights(key: AccessKey, table: str) -> None:
    """Checked first, so that a key learns nothing about a table that it may not read."""
    if not key.may_read(table):
        raise RequestError(
            Code.NO_RIGHTS,
            f"permission denied: this key may not read table {table}",
            remedy="Ask for a key that may (evergrid key create NAME --tables …).",
        )


def check_window(window: Window, most: int) -> None:
    """Offset and limit are in range; `most` is the largest limit."""
    if not -MAX_OFFSET <= window.offset <= MAX_OFFSET:
        raise RequestError(
            Code.BAD_WINDOW,
            f"offset {shown(window.offset)} is out of range",
            remedy=f"Use one between -{MAX_OFFSET} and {MAX_OFFSET}.",
        )
    if not 1 <= window.limit <= most:
        raise RequestError(
            Code.BAD_WINDOW,
            f"limit {shown(window.limit)} is out of range",
            remedy=f"Use one between 1 and {most}.",
        )


def check_query(query: Query) -> None:
    """The table's name, names that come twice, and the filter's depth.

    The engine checks whether the table has the columns.
    """
    check_name(query.table)
    if (name := _repeated(query.columns)) is not None:
        raise RequestError(
            Code.DUPLICATE_COLUMN,
            f"duplicate column {shown(name)} in columns",
            remedy="Name each column once.",
        )
    if (name := _repeated([by.column for by in query.order])) is not None:
        raise RequestError(
            Code.BAD_ORDER,
            f"bad order: duplicate column {shown(name)}",
            remedy="Name each column once.",
        )
    if query.filter is not None and _deeper(query.filter, MAX_NESTING):
        raise RequestError(
            Code.BAD_FILTER,
            f"filter nested more than {MAX_NESTING} levels deep",
            remedy="Put conditions of the same kind into one list.",
        )


def _repeated(names: Sequence[str]) -> str | None:
    """A name that comes more than once."""
    if len(set(names)) == len(names):
        return None
    return Counter(names).most_common(1)[0][0]


def _deeper(filter_: Filter, depth: int) -> bool:
    """Level by level, without recursion: a hostile filter must not exhaust the stack."""
    level: list[Filter] = [filter_]
    for _ in range(depth):
        level = [part for outer in level for part in (*(outer.all_of or ()), *(outer.any_of or ()))]
        if not level:
            return False
    return True


def shown(value: object) -> str:
    """A client's value as text, shortened for an error message."""
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        return "a number that long"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
