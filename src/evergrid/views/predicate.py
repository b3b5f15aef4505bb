"""Filters and searches compiled for a table: they map rows to a mask of those that pass."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evergrid.model.field_types import ColumnKind, FieldType
from evergrid.model.table import Column, Table
from evergrid.store.column import is_wide
from evergrid.store.growing_array import Mask, Values
from evergrid.store.rows import Rows
from evergrid.views.filter_values import Number, boolean_value, is_text, number_value, text_value
from evergrid.views.view_query import Fault, Filter, Op, QueryError, Scalar

Predicate = Callable[[Rows], Mask]

MAX_CONDITIONS = 100
MAX_NESTING = 16
MAX_SEARCH = 256


def filter_predicate(wanted: Filter, table: Table) -> Predicate:
    """Compile a filter for this table; QueryError if it does not fit the table."""
    compiled = _compiled(wanted, {column.name: column for column in table.columns}, MAX_NESTING)
    # Counted only now that it is known not to be nested too deep to be walked through.
    if sum(1 for _ in wanted.conditions()) > MAX_CONDITIONS:
        raise _bad_filter(f"more than {MAX_CONDITIONS} conditions")
    return compiled


def search_predicate(search: str, table: Table) -> Predicate | None:
    """Compile a search: every word occurs in some text of the row, ignoring case; None if empty."""
    if len(search) > MAX_SEARCH:
        raise QueryError(Fault.BAD_SEARCH, f"a search of more than {MAX_SEARCH} characters")
    if not is_text(search):
        raise QueryError(Fault.BAD_SEARCH, "a search with half of a surrogate pair in it")
    words = [_lower(word) for word in search.split()]
    texts = [column.name for column in table.columns if column.type.kind is ColumnKind.TEXT]
    if not words:
        return None

    def passes(rows: Rows) -> Mask:
        found = [np.zeros(len(rows), bool) for _ in words]
        for name in texts:
            lowered = pc.utf8_lower(rows.texts(name))
            for mask, word in zip(found, words, strict=True):
                mask |= _mask(pc.match_substring(lowered, word))
        return np.asarray(np.logical_and.reduce(found), bool)

    return passes


def _compiled(wanted: Filter, columns: Mapping[str, Column], depth: int) -> Predicate:
    if depth == 0:
        raise _bad_filter(f"nested deeper than {MAX_NESTING}")
    forms = (wanted.column is not None, wanted.all_of is not None, wanted.any_of is not None)
    if sum(forms) != 1 or (wanted.op is None) == (wanted.column is not None):
        raise _bad_filter("neither one condition (column, op, value) nor one of and, or")
    if wanted.column is not None:
        return _condition(wanted, columns)
    if wanted.value is not None or wanted.ignore_case:
        raise _bad_filter("a value belongs to a condition, not to and, or")
    parts = wanted.all_of if wanted.all_of is not None else wanted.any_of
    if not parts:
        raise _bad_filter("and, or without anything in it")
    compiled = [_compiled(part, columns, depth - 1) for part in parts]
    combine = np.logical_and if wanted.all_of is not None else np.logical_or
    return lambda rows: reduce(combine, (passes(rows) for passes in compiled))


def _condition(wanted: Filter, columns: Mapping[str, Column]) -> Predicate:
    name, op = str(wanted.column), wanted.op
    assert op is not None
    column = columns.get(name)
    if column is None:
        raise _unknown_column(name, list(columns))
    if op in (Op.IS_NULL, Op.NOT_NULL):
        if wanted.value is not None:
            raise _bad_filter(f"{op.value} takes no value", name)
        return lambda rows: _is_null(rows, column) == (op is Op.IS_NULL)
    values = _values(wanted, op, name)
    if op is Op.NOT:
        equal = _comparison(column, Op.EQUALS, values, wanted.ignore_case)
        return lambda rows: ~equal(rows)
    return _comparison(column, op, values, wanted.ignore_case)


def _values(wanted: Filter, op: Op, name: str) -> Sequence[Scalar]:
    value = wanted.value
    if op is Op.IN:
        if not isinstance(value, tuple):
            raise _bad_filter("in takes a list of values", name)
        return value
    if op is Op.BETWEEN:
        if not isinstance(value, tuple) or len(value) != 2:
            raise _bad_filter("between takes a list of two values", name)
        return value
    if isinstance(value, tuple):
        raise _bad_filter(f"{op.value} takes one value", name)
    return (value,)


def _comparison(column: Column, op: Op, values: Sequence[Scalar], ignore_case: bool) -> Predicate:
    kind = column.type.kind
    if kind is ColumnKind.TEXT:
        return _text_comparison(column.name, op, values, ignore_case)
    if ignore_case or op in (Op.CONTAINS, Op.STARTS_WITH):
        raise _bad_filter("only texts are compared by their letters", column.name)
    if kind is ColumnKind.BOOLEAN:
        if op not in (Op.EQUALS, Op.IN):
            raise _bad_filter(f"true and false are not compared by {op.value}", column.name)
        wanted = [boolean_value(value, column.name) for value in values]
        return _numeric(column.name, lambda held: np.isin(held, wanted))
    numbers = [number_value(value, column.type, column.name) for value in values]
    return _numeric(column.name, _number_test(op, numbers, column.type))


def _text_comparison(name: str, op: Op, values: Sequence[Scalar], ignore_case: bool) -> Predicate:
    texts = [text_value(value, name) for value in values]
    wanted = [_lower(text) for text in texts] if ignore_case else texts
    test = _text_test(op, wanted)

    def passes(rows: Rows) -> Mask:
        held = rows.texts(name)
        return _mask(test(pc.utf8_lower(held) if ignore_case else held))

    return passes


def _text_test(op: Op, wanted: list[str]) -> Callable[[pa.StringArray], pa.BooleanArray]:
    if op is Op.IN:
        known = pa.array(wanted, pa.string())
        return lambda held: pc.and_(pc.is_in(held, value_set=known), pc.is_valid(held))
    if op is Op.BETWEEN:
        return lambda held: pc.and_(
            pc.greater_equal(held, wanted[0]), pc.less_equal(held, wanted[1])
        )
    compare = _TEXT_COMPARE[op]
    return lambda held: compare(held, wanted[0])


_TEXT_COMPARE = {
    Op.CONTAINS: pc.match_substring,
    Op.STARTS_WITH: pc.starts_with,
    Op.EQUALS: pc.equal,
    Op.LESS: pc.less,
    Op.LESS_OR_EQUAL: pc.less_equal,
    Op.GREATER: pc.greater,
    Op.GREATER_OR_EQUAL: pc.greater_equal,
}


def _numeric(name: str, test: Callable[[Values], Mask]) -> Predicate:
    def passes(rows: Rows) -> Mask:
        values, valid = rows.numbers(name)
        mask = test(values)
        return mask if valid is None else mask & valid

    return passes


def _number_test(op: Op, numbers: Sequence[Number], field: FieldType) -> Callable[[Values], Mask]:
    if op in (Op.EQUALS, Op.IN):
        tests = [_between(number, number, field) for number in numbers]
        return lambda held: reduce(
            np.logical_or, (test(held) for test in tests), np.zeros(len(held), bool)
        )
    if op is Op.BETWEEN:
        return _between(numbers[0], numbers[1], field)
    at_least = _at_least(numbers[0], field, beyond=op in (Op.GREATER, Op.LESS_OR_EQUAL))
    if op in (Op.GREATER, Op.GREATER_OR_EQUAL):
        return at_least
    return lambda held: ~at_least(held)


def _between(low: Number, high: Number, field: FieldType) -> Callable[[Values], Mask]:
    at_least, above = _at_least(low, field), _at_least(high, field, beyond=True)
    return lambda held: at_least(held) & ~above(held)


def _at_least(
    number: Number, field: FieldType, *, beyond: bool = False
) -> Callable[[Values], Mask]:
    """Whether stored values are at least `number`, or greater.

    Held values are whole numbers (floats aside), so the bound becomes a whole number too. It may be
    one that a column cannot hold: numpy compares with whole numbers of any size.
    """
    if field.kind is ColumnKind.FLOAT:
        bound = float(number)
        return (lambda held: held > bound) if beyond else (lambda held: held >= bound)
    exact = decimal.Decimal(number)
    whole = math.floor(exact) + 1 if beyond else math.ceil(exact)
    if not is_wide(field):
        return lambda held: held >= whole
    high, low = whole >> 64, np.uint64(whole & (2**64 - 1))

    def test(held: Values) -> Mask:
        highs: NDArray[np.int64] = held[:, 1]
        lows = np.ascontiguousarray(held[:, 0]).view(np.uint64)
        return np.asarray((highs > high) | ((highs == high) & (lows >= low)), bool)

    return test


def _is_null(rows: Rows, column: Column) -> Mask:
    if column.type.kind is ColumnKind.TEXT:
        return _mask(rows.texts(column.name).is_null())
    _, valid = rows.numbers(column.name)
    return np.zeros(len(rows), bool) if valid is None else ~valid


def _mask(found: pa.BooleanArray) -> Mask:
    return np.asarray(found.fill_null(False).to_numpy(zero_copy_only=False), bool)


def _lower(text: str) -> str:
    """Lower case as Arrow computes it for columns, which differs a little from Python."""
    return str(pc.utf8_lower(pa.scalar(text)).as_py())


def check_columns(names: Iterable[str], table: Table) -> None:
    """QueryError for the first of `names` that the table does not have."""
    known = [column.name for column in table.columns]
    for name in names:
        if name not in known:
            raise _unknown_column(name, known)


def _unknown_column(name: str, known: Sequence[str]) -> QueryError:
    shown = name if len(name) <= 60 else name[:60] + "…"
    return QueryError(
        Fault.UNKNOWN_COLUMN,
        f"there is no column {shown!r}",
        remedy=f"There are {', '.join(known)}.",
    )


def _bad_filter(what: str, column: str = "") -> QueryError:
    return QueryError(
        Fault.BAD_FILTER,
        what,
        where=f"filter on column {column}" if column else "filter",
        remedy="docs/protocol.md has the form of filters.",
    )
