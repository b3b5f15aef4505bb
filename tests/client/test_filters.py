"""Filters and orders written for people mean exactly one thing on the wire."""

from __future__ import annotations

import datetime
from decimal import Decimal

import msgspec
import pytest

from evergrid.client.filters import Order, Where, col, columns_of, filter_of, order_of
from evergrid.views.view_query import Nulls, OrderBy

NOON = datetime.datetime(2026, 1, 31, 13, 0, 0, 5, datetime.timezone(datetime.timedelta(hours=1)))


def wire(where: Where) -> object:
    wanted = filter_of(where)
    return None if wanted is None else msgspec.json.decode(msgspec.json.encode(wanted))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (col("age") == 30, {"column": "age", "op": "equals", "value": 30}),
        (col("age") != 30, {"column": "age", "op": "not", "value": 30}),
        (col("age") < 30, {"column": "age", "op": "less", "value": 30}),
        (col("age") <= 30, {"column": "age", "op": "less_or_equal", "value": 30}),
        (col("age") > 30, {"column": "age", "op": "greater", "value": 30}),
        (col("age") >= 30, {"column": "age", "op": "greater_or_equal", "value": 30}),
        (col("age") == None, {"column": "age", "op": "is_null"}),  # noqa: E711
        (col("age") != None, {"column": "age", "op": "not_null"}),  # noqa: E711
        (col("age").is_null(), {"column": "age", "op": "is_null"}),
        (col("age").not_null(), {"column": "age", "op": "not_null"}),
        (col("age").between(1, 2), {"column": "age", "op": "between", "value": [1, 2]}),
        (col("age").is_in({7}), {"column": "age", "op": "in", "value": [7]}),
        (col("a").contains("x"), {"column": "a", "op": "contains", "value": "x"}),
        (
            col("a").starts_with("x", ignore_case=True),
            {"column": "a", "op": "starts_with", "value": "x", "ignore_case": True},
        ),
        (
            col("ts") > NOON,
            {"column": "ts", "op": "greater", "value": "2026-01-31T12:00:00.000005+00:00"},
        ),
        (col("a") == Decimal("1.10"), {"column": "a", "op": "equals", "value": "1.10"}),
    ],
)
def test_a_condition(where: Where, expected: object) -> None:
    assert wire(where) == expected


def test_conditions_are_combined_and_stay_flat() -> None:
    one, two, three = (
        {"column": name, "op": "equals", "value": 1} for name in ("one", "two", "three")
    )
    a, b, c = (col(name) == 1 for name in ("one", "two", "three"))
    assert wire(a & b & c) == {"and": [one, two, three]}
    assert wire(a | b | c) == {"or": [one, two, three]}
    assert wire((a | b) & c) == {"and": [{"or": [one, two]}, three]}


def test_a_mapping_means_all_of_its_columns() -> None:
    assert wire({"age": 30}) == {"column": "age", "op": "equals", "value": 30}
    assert wire({"age": [30, 31], "name": None}) == {
        "and": [
            {"column": "age", "op": "in", "value": [30, 31]},
            {"column": "name", "op": "is_null"},
        ]
    }
    assert wire({}) is None
    assert wire(None) is None


def test_the_wires_own_form_is_taken_as_it_is() -> None:
    plain: dict[str, object] = {
        "or": [
            {"column": "a", "op": "less", "value": 3},
            {"and": [{"column": "b", "op": "is_null"}]},
        ]
    }
    assert wire(plain) == plain
    assert wire({"column": "ts", "op": "less", "value": NOON}) == {
        "column": "ts",
        "op": "less",
        "value": "2026-01-31T12:00:00.000005+00:00",
    }
    with pytest.raises(ValueError, match="invalid filter"):
        filter_of({"column": "a", "op": "resembles", "value": 3})


def test_a_column_may_be_called_like_a_word_of_the_wire() -> None:
    assert wire({"op": "sum"}) == {"column": "op", "op": "equals", "value": "sum"}
    assert wire({"and": 3}) == {"column": "and", "op": "equals", "value": 3}


def test_what_cannot_be_meant_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match=r"combine filters with & and \|"):
        bool(col("a") == 1)
    with pytest.raises(ValueError, match="has no time zone"):
        col("ts") > datetime.datetime(2026, 1, 1)  # noqa: B015
    with pytest.raises(ValueError, match="not a finite number"):
        col("a") > float("nan")  # noqa: B015
    with pytest.raises(TypeError, match="cannot be used in a filter"):
        filter_of({"a": object()})
    with pytest.raises(TypeError, match="made with col"):
        filter_of("age > 30")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (None, ()),
        ("", ()),
        ("ts", (OrderBy("ts"),)),
        ("-ts, name", (OrderBy("ts", descending=True), OrderBy("name"))),
        (["-ts:first"], (OrderBy("ts", descending=True, nulls=Nulls.FIRST),)),
        ([OrderBy("a"), "b:last"], (OrderBy("a"), OrderBy("b"))),
    ],
)
def test_an_order(order: Order | None, expected: tuple[OrderBy, ...]) -> None:
    assert order_of(order) == expected


def test_an_order_that_is_none() -> None:
    with pytest.raises(ValueError, match="write name, -name"):
        order_of("ts:descending")


def test_columns_may_be_a_list_or_one_text() -> None:
    assert columns_of(["a", "b"]) == columns_of("a, b") == ("a", "b")
    assert columns_of(None) == ()
