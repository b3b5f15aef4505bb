"""What anybody may ask of a table, checked before the engine hears of it."""

from __future__ import annotations

from evergrid.gateway.access.access_key import Key
from evergrid.gateway.access.request_error import Refusal
from evergrid.model.table import NAME
from evergrid.protocol.codes import Code
from evergrid.views.predicate import MAX_NESTING
from evergrid.views.query import Filter, Query, Window

FURTHEST = 2**53  # a browser counts exactly up to here
_SHOWN = 80


def check_name(table: str) -> None:
    """A table's name, whether or not there is such a table."""
    if not NAME.fullmatch(table):
        raise Refusal(
            Code.BAD_TABLE_NAME,
            f"{shown(table)} cannot be the name of a table",
            remedy="Names have letters, digits and _, and do not start with a digit.",
        )


def check_rights(key: Key, table: str) -> None:
    """Asked before anything else about the table: who may not read it learns nothing of it."""
    if not key.may_read(table):
        raise Refusal(
            Code.NO_RIGHTS,
            f"this key may not read the table {table}",
            remedy="Ask for one that may (evergrid key create NAME --tables …).",
        )


def check_window(window: Window, most: int) -> None:
    """A slice that exists in some table, of at most `most` rows."""
    if not -FURTHEST <= window.offset <= FURTHEST:
        raise Refusal(
            Code.BAD_WINDOW,
            f"the offset {shown(window.offset)} is out of range",
            remedy=f"Give one between -{FURTHEST} and {FURTHEST}.",
        )
    if not 1 <= window.limit <= most:
        raise Refusal(
            Code.BAD_WINDOW,
            f"a window of {shown(window.limit)} rows cannot be had",
            remedy=f"Give a limit between 1 and {most}.",
        )


def check_query(query: Query) -> None:
    """Name and shape; whether its columns exist only the engine can say."""
    check_name(query.table)
    if query.filter is not None and _deeper(query.filter, MAX_NESTING):
        raise Refusal(
            Code.BAD_FILTER,
            f"the filter is nested more than {MAX_NESTING} deep",
            remedy="Put conditions of the same kind into one list.",
        )


def _deeper(filter_: Filter, depth: int) -> bool:
    """Level by level: a hostile filter must not be able to exhaust the stack."""
    level: list[Filter] = [filter_]
    for _ in range(depth):
        level = [part for outer in level for part in (*(outer.all_of or ()), *(outer.any_of or ()))]
        if not level:
            return False
    return True


def shown(value: object) -> str:
    """A client's own words, cut to a length that can be answered with."""
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        return "a number that long"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
