"""Queries as the protocol has them: columns, filter, search, order, window."""

from __future__ import annotations

import enum
from collections.abc import Iterator

import msgspec

from evergrid.model.errors import EvergridError

Scalar = str | int | float | bool | None


class Op(enum.Enum):
    """A comparison of one column; only `is_null` and `not` let rows with null pass."""

    EQUALS = "equals"
    NOT = "not"
    IN = "in"
    LESS = "less"
    LESS_OR_EQUAL = "less_or_equal"
    GREATER = "greater"
    GREATER_OR_EQUAL = "greater_or_equal"
    BETWEEN = "between"
    CONTAINS = "contains"
    STARTS_WITH = "starts_with"
    IS_NULL = "is_null"
    NOT_NULL = "not_null"


class Filter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One condition on a column, or several filters combined by `and` or `or`."""

    column: str | None = None
    op: Op | None = None
    value: Scalar | tuple[Scalar, ...] = None
    ignore_case: bool = False
    all_of: tuple[Filter, ...] | None = msgspec.field(default=None, name="and")
    any_of: tuple[Filter, ...] | None = msgspec.field(default=None, name="or")

    def conditions(self) -> Iterator[Filter]:
        """All conditions, at any depth."""
        if self.column is not None:
            yield self
        for part in (*(self.all_of or ()), *(self.any_of or ())):
            yield from part.conditions()


class Nulls(enum.Enum):
    """Whether nulls come first or last, in either direction."""

    FIRST = "first"
    LAST = "last"


class OrderBy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One column to order by."""

    column: str
    descending: bool = False
    nulls: Nulls = Nulls.LAST


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The columns, filter, search and order of a view; no columns means all of them."""

    table: str
    columns: tuple[str, ...] = ()
    filter: Filter | None = None
    search: str = ""
    order: tuple[OrderBy, ...] = ()


class Window(msgspec.Struct, frozen=True):
    """A slice of a view. A negative offset counts from the end and moves with it."""

    offset: int
    limit: int

    def start(self, total: int) -> int:
        """The rank of its first row in a view of `total` rows."""
        return self.offset if self.offset >= 0 else max(0, total + self.offset)


class Fault(enum.Enum):
    """What can be wrong with a query; the protocol's error codes have the same names."""

    BAD_TABLE_NAME = "bad_table_name"
    UNKNOWN_COLUMN = "unknown_column"
    BAD_FILTER = "bad_filter"
    BAD_VALUE = "bad_value"
    BAD_ORDER = "bad_order"
    BAD_SEARCH = "bad_search"
    BAD_WINDOW = "bad_window"


class QueryError(EvergridError):
    """A query that does not fit the table."""

    def __init__(self, fault: Fault, what: str, *, where: str = "", remedy: str = "") -> None:
        self.fault = fault
        super().__init__(what, where=where, remedy=remedy)
