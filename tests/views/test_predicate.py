"""Filters and searches let exactly the rows pass that plain Python would let pass."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
import pytest

from evergrid.model.field_types import ColumnKind
from evergrid.store.table_store import TableStore
from evergrid.views.predicate import (
    MAX_CONDITIONS,
    MAX_NESTING,
    MAX_SEARCH,
    filter_predicate,
    search_predicate,
)
from evergrid.views.view import View
from evergrid.views.view_query import Fault, Filter, Op, Query, QueryError, Scalar
from tests.store import making
from tests.support.naive_table import NaiveTable, Row, Value

SEED = 20_261_116
TABLE = making.made_table(version=False)
COLUMNS = {column.name: column for column in TABLE.columns}
POOLS: dict[str, Sequence[Value]] = {
    "text": making.TEXTS,
    "count": making.INTEGERS,
    "size": making.FLOATS,
    "flag": [True, False],
    "money": making.MONEY,
    "wide": making.WIDE,
    "at": making.MOMENTS,
}


def stored(rows: Sequence[Row]) -> TableStore:
    store = TableStore(TABLE)
    store.upsert(making.batch(TABLE, rows), 1)
    return store


def row(offset: int, **cells: Value) -> dict[str, Value]:
    blank: dict[str, Value] = dict.fromkeys(COLUMNS)
    return blank | {"partition": 0, "offset": offset, "ts": 0} | cells


def passing(store: TableStore, wanted: Filter) -> list[bool]:
    slots = np.arange(len(store))
    return cast(list[bool], filter_predicate(wanted, TABLE)(store.rows(slots)).tolist())


def conditions(rng: random.Random, name: str, op: Op) -> Iterator[Filter]:
    for _ in range(40):
        yield making.random_condition(rng, COLUMNS[name], op)
    if op in (Op.IS_NULL, Op.NOT_NULL, Op.IN, Op.BETWEEN):
        return
    kind = COLUMNS[name].type.kind
    for value in POOLS[name]:
        if value not in (float("inf"), float("-inf")):
            exact: Scalar = str(value) if kind in _AS_TEXT else cast(Scalar, value)
            yield Filter(name, op, exact)


_AS_TEXT = (ColumnKind.TEXT, ColumnKind.INTEGER, ColumnKind.DECIMAL)
CASES = [
    pytest.param(name, op, id=f"{name}-{op.value}")
    for name in POOLS
    for op in making.ops_of(COLUMNS[name].type)
]


@pytest.mark.parametrize(("name", "op"), CASES)
def test_every_comparison_of_every_type_is_pythons(name: str, op: Op) -> None:
    rows = [row(i, **{name: value}) for i, value in enumerate([*POOLS[name], None])]
    store, model = stored(rows), NaiveTable(TABLE)
    for wanted in conditions(random.Random(SEED), name, op):
        assert passing(store, wanted) == [model.passes(one, wanted) for one in rows], wanted


@pytest.mark.parametrize(("name", "op"), CASES)
def test_only_is_null_and_not_let_null_pass(name: str, op: Op) -> None:
    store = stored([row(0)])
    for wanted in conditions(random.Random(SEED), name, op):
        assert passing(store, wanted) == [op in (Op.IS_NULL, Op.NOT)]


def test_letters_are_lowered_one_by_one() -> None:
    rows = [row(i, text=text) for i, text in enumerate(["İx", "ΑΣ", "ας", "ẞ", "ß", "Ǆ"])]
    store, model = stored(rows), NaiveTable(TABLE)
    for text in ("ix", "İX", "ασ", "ΑΣ", "ß", "SS", "ǆ"):
        for op in (Op.EQUALS, Op.CONTAINS, Op.STARTS_WITH):
            wanted = Filter("text", op, text, ignore_case=True)
            assert passing(store, wanted) == [model.passes(one, wanted) for one in rows], wanted


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("", [0, 1, 2, 3]),
        ("  ", [0, 1, 2, 3]),
        ("ann", [0, 1]),
        ("ANN", [0, 1]),
        ("ann lee", [0]),
        ("lee ann", [0]),
        ("ann zoë", [1]),
        ("nnle", []),
        ("%", []),
        (".", []),
        ("\0", [3]),
        ("7", []),
        ("users", [2]),
    ],
)
def test_a_search_wants_every_word_somewhere_in_the_texts(search: str, found: list[int]) -> None:
    rows = [
        row(0, text="Ann", note="Lee"),
        row(1, text="joANNa", note="Zoë", count=7),
        row(2, text=None, note=None, topic="users"),
        row(3, text="a\0b", note=""),
    ]
    view = View(stored(rows), None, search, ())
    view.grow()
    assert view.between(0, 9).tolist() == found
    model = NaiveTable(TABLE)
    model.upsert(rows)
    assert [one["offset"] for one in model.view(Query("made", search=search))] == found


def test_and_or_nest() -> None:
    rng = random.Random(SEED)
    print(f"seed {SEED}")
    rows = [making.random_row(rng, TABLE) | {"offset": i} for i in range(60)]
    store, model = stored(rows), NaiveTable(TABLE)
    for _ in range(300):
        wanted = making.random_filter(rng, TABLE, depth=5)
        if sum(1 for _ in wanted.conditions()) <= MAX_CONDITIONS:
            assert passing(store, wanted) == [model.passes(one, wanted) for one in rows], wanted


def _nested(depth: int) -> Filter:
    wanted = Filter("text", Op.IS_NULL)
    for _ in range(depth - 1):
        wanted = Filter(all_of=(wanted,))
    return wanted


_TWO = (Filter("text", Op.IS_NULL), Filter("count", Op.IS_NULL))
BAD_FILTERS = [
    Filter(),
    Filter(column="text"),
    Filter(op=Op.EQUALS),
    Filter(op=Op.EQUALS, all_of=_TWO),
    Filter("text", Op.IS_NULL, all_of=_TWO),
    Filter(all_of=_TWO, any_of=_TWO),
    Filter(all_of=()),
    Filter(any_of=()),
    Filter(value="x", all_of=_TWO),
    Filter(ignore_case=True, any_of=_TWO),
    Filter("text", Op.IS_NULL, "x"),
    Filter("text", Op.NOT_NULL, False),
    Filter("text", Op.IN, "x"),
    Filter("text", Op.BETWEEN, "x"),
    Filter("text", Op.BETWEEN, ("x",)),
    Filter("text", Op.BETWEEN, ("x", "y", "z")),
    Filter("text", Op.EQUALS, ("x",)),
    Filter("count", Op.CONTAINS, 1),
    Filter("size", Op.STARTS_WITH, 1.5),
    Filter("at", Op.CONTAINS, 1),
    Filter("count", Op.EQUALS, 1, ignore_case=True),
    *(Filter("flag", op, True) for op in (Op.LESS, Op.GREATER, Op.LESS_OR_EQUAL, Op.CONTAINS)),
    Filter("flag", Op.BETWEEN, (False, True)),
    Filter(any_of=(Filter("text", Op.IS_NULL),) * (MAX_CONDITIONS + 1)),
    _nested(MAX_NESTING + 1),
    _nested(5_000),
]


@pytest.mark.parametrize("wanted", BAD_FILTERS, ids=range(len(BAD_FILTERS)))
def test_a_filter_without_a_meaning_is_a_bad_filter(wanted: Filter) -> None:
    with pytest.raises(QueryError) as caught:
        filter_predicate(wanted, TABLE)
    assert caught.value.fault is Fault.BAD_FILTER


def test_the_largest_filters_are_taken() -> None:
    filter_predicate(_nested(MAX_NESTING), TABLE)
    filter_predicate(Filter(any_of=(Filter("text", Op.IS_NULL),) * MAX_CONDITIONS), TABLE)


BAD_VALUES: dict[str, list[Scalar]] = {
    "text": [None, 1, 1.5, True, "\ud800"],
    "count": [None, True, "", "x", "1_000", " 1", "nan", "inf", "1e101", "1e20000", "9" * 101],
    "size": [None, False, "", "x", "0x10", "nan", "-inf", float("inf"), "1e400", "1e20000"],
    "flag": [None, 0, 1, "true"],
    "money": [None, True, "", "12,50", "NaN", "1e-101", float("nan")],
    "wide": [None, False, "x", "1e101"],
    "at": [None, True, "", "today", "2026-01-31", "2026-01-31T12:00:00", "13:00Z", 1.5, "99999"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD_VALUES.items() for value in values]
)
def test_a_value_that_the_column_cannot_be_compared_with_is_a_bad_value(
    name: str, value: Scalar
) -> None:
    wanted = [Filter(name, Op.EQUALS, value), Filter(name, Op.NOT, value)]
    wanted += [Filter(name, Op.IN, (value,))]
    for one in wanted:
        with pytest.raises(QueryError) as caught:
            filter_predicate(one, TABLE)
        assert caught.value.fault is Fault.BAD_VALUE
        assert name in caught.value.sentence()


def test_an_unknown_column_is_named_and_the_known_ones_too() -> None:
    with pytest.raises(
        QueryError, match=r"there is no column 'nmae'. There are text, note"
    ) as caught:
        filter_predicate(Filter("nmae", Op.IS_NULL), TABLE)
    assert caught.value.fault is Fault.UNKNOWN_COLUMN


@pytest.mark.parametrize("search", ["x" * (MAX_SEARCH + 1), "a \udfff"])
def test_a_search_can_be_bad(search: str) -> None:
    with pytest.raises(QueryError) as caught:
        search_predicate(search, TABLE)
    assert caught.value.fault is Fault.BAD_SEARCH


def test_bounds_beyond_what_a_column_can_hold_are_above_or_below_all() -> None:
    store = stored([row(0, count=making.HIGHEST), row(1, count=making.LOWEST)])
    bounds: list[Scalar] = [2**63, 2**70, "1e50", "9223372036854775807.5"]
    for bound, op in itertools.product(bounds, Op):
        if op in (Op.LESS, Op.LESS_OR_EQUAL, Op.NOT):
            assert passing(store, Filter("count", op, bound)) == [True, True]
        elif op in (Op.GREATER, Op.GREATER_OR_EQUAL, Op.EQUALS):
            assert passing(store, Filter("count", op, bound)) == [False, False]
