"""Filters and orders as written in Python, converted to those of the protocol."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TypeVar, cast

import msgspec

from evergrid.views.view_query import Filter, Nulls, Op, OrderBy, Query, Scalar

Value = str | int | float | bool | Decimal | datetime.datetime | None
T = TypeVar("T")


class Condition(msgspec.Struct, frozen=True):
    """A filter that can be combined: `a & b`, `a | b`."""

    filter: Filter

    def __and__(self, other: Condition) -> Condition:
        return Condition(Filter(all_of=(*_parts(self, "all_of"), *_parts(other, "all_of"))))

    def __or__(self, other: Condition) -> Condition:
        return Condition(Filter(any_of=(*_parts(self, "any_of"), *_parts(other, "any_of"))))

    def __bool__(self) -> bool:
        # `a and b` would quietly mean `b`.
        raise TypeError("a filter has no truth value: combine filters with & and |")


def _parts(condition: Condition, kind: str) -> tuple[Filter, ...]:
    """The parts of a condition of this kind, so that long chains stay flat."""
    parts: tuple[Filter, ...] | None = getattr(condition.filter, kind)
    return parts if parts is not None else (condition.filter,)


class col:
    """A column to compare: `col("age") > 30`, `col("name").contains("ann")`.

    Rows without a value pass only `!=`, `is_null()` and `== None`. `ignore_case` is for text.
    """

    __slots__ = ("_name",)
    __hash__ = None  # type: ignore[assignment] # == makes a filter, so it cannot be looked up

    def __init__(self, name: str) -> None:
        self._name = name

    def __eq__(self, value: Value) -> Condition:  # type: ignore[override]
        return self.is_null() if value is None else self._is(Op.EQUALS, value)

    def __ne__(self, value: Value) -> Condition:  # type: ignore[override]
        return self.not_null() if value is None else self._is(Op.NOT, value)

    def __lt__(self, value: Value) -> Condition:
        return self._is(Op.LESS, value)

    def __le__(self, value: Value) -> Condition:
        return self._is(Op.LESS_OR_EQUAL, value)

    def __gt__(self, value: Value) -> Condition:
        return self._is(Op.GREATER, value)

    def __ge__(self, value: Value) -> Condition:
        return self._is(Op.GREATER_OR_EQUAL, value)

    def equals(self, value: Value, *, ignore_case: bool = False) -> Condition:
        return self._is(Op.EQUALS, value, ignore_case)

    def contains(self, text: str, *, ignore_case: bool = False) -> Condition:
        return self._is(Op.CONTAINS, text, ignore_case)

    def starts_with(self, text: str, *, ignore_case: bool = False) -> Condition:
        return self._is(Op.STARTS_WITH, text, ignore_case)

    def is_in(self, values: Iterable[Value], *, ignore_case: bool = False) -> Condition:
        chosen = tuple(scalar(value) for value in values)
        return Condition(Filter(self._name, Op.IN, chosen, ignore_case))

    def between(self, low: Value, high: Value) -> Condition:
        """From `low` to `high`, both included."""
        return Condition(Filter(self._name, Op.BETWEEN, (scalar(low), scalar(high))))

    def is_null(self) -> Condition:
        return Condition(Filter(self._name, Op.IS_NULL))

    def not_null(self) -> Condition:
        return Condition(Filter(self._name, Op.NOT_NULL))

    def _is(self, op: Op, value: Value, ignore_case: bool = False) -> Condition:
        return Condition(Filter(self._name, op, scalar(value), ignore_case))

    def __repr__(self) -> str:
        return f"col({self._name!r})"


Where = Condition | Filter | Mapping[str, object] | None
Order = str | Sequence[str | OrderBy]
Columns = str | Sequence[str]


def scalar(value: object) -> Scalar:
    """A value as the protocol has it: decimals as text, times as ISO 8601 in UTC."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise ValueError(
                f"{value!r} has no time zone: add tzinfo, for example datetime.timezone.utc"
            )
        return value.astimezone(datetime.UTC).isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value!r} cannot be used in a filter: it is not a finite number")
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(
        f"{value!r} cannot be used in a filter: use str, int, float, Decimal, bool, None, or a "
        "datetime with a time zone"
    )


def filter_of(where: Where) -> Filter | None:
    """The filter for `where`.

    A mapping is either a filter of the protocol, or column → value, where all columns must match:
    a list matches any of its values, and None matches null.
    """
    if where is None or isinstance(where, Filter):
        return where
    if isinstance(where, Condition):
        return where.filter
    if not isinstance(where, Mapping):
        raise TypeError(f"a filter is a mapping or made with col(), not {type(where).__name__}")
    if _is_protocol_filter(where):
        try:
            return msgspec.convert(_plain(where), Filter)
        except msgspec.ValidationError as error:
            raise ValueError(f"invalid filter: {error}") from None
    parts = tuple(_equals(name, value).filter for name, value in where.items())
    if len(parts) == 1:
        return parts[0]
    return Filter(all_of=parts) if parts else None


def _is_protocol_filter(where: Mapping[str, object]) -> bool:
    if len(where) == 1:
        return isinstance(where.get("and", where.get("or")), list | tuple)
    return {"column", "op"} <= where.keys()


def _plain(value: object) -> object:
    """A filter of the protocol with its times and decimals as the protocol has them."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return scalar(value)


def _equals(name: str, value: object) -> Condition:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return col(name) == cast(Value, value)
    return col(name).is_in(value)


def order_of(order: Order | None) -> tuple[OrderBy, ...]:
    """`"-ts,name"`: by ts, highest first, then by name. `name:first` puts nulls first."""
    return tuple(
        word if isinstance(word, OrderBy) else _order_by(word) for word in _listed(order or ())
    )


def _listed(words: str | Sequence[T]) -> Sequence[str | T]:
    """Words as they are, or those of a text with commas between them."""
    if isinstance(words, str):
        return words.split(",") if words else ()
    return words


def _order_by(word: str) -> OrderBy:
    name, colon, nulls = word.strip().partition(":")
    descending = name.startswith("-")
    if colon and nulls not in {place.value for place in Nulls}:
        raise ValueError(f"invalid order {word!r}: write name, -name, name:first or name:last")
    return OrderBy(name.removeprefix("-"), descending, Nulls(nulls) if colon else Nulls.LAST)


def order_text(order: tuple[OrderBy, ...]) -> str:
    """The text that `order_of` reads as this order."""
    return ",".join(
        f"{'-' if part.descending else ''}{part.column}"
        f"{'' if part.nulls is Nulls.LAST else f':{part.nulls.value}'}"
        for part in order
    )


def columns_of(columns: Columns | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in _listed(columns or ()))


def query_of(
    table: str, columns: Columns | None, where: Where, search: str, order: Order | None
) -> Query:
    """The query for these arguments."""
    return Query(table, columns_of(columns), filter_of(where), search, order_of(order))
