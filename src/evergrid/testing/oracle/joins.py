"""The three joins: each row finds its match among the sorted rows of its key."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from evergrid.testing.oracle.message import Message, Row, Table, Value
from evergrid.testing.oracle.raw import Readings
from evergrid.testing.oracle.spec import (
    JoinSpec,
    JoinType,
    LimitsSpec,
    SourceSpec,
    shown_columns,
)

_Pair = tuple[Row | None, Row | None]


def join(
    messages: Iterable[Message],
    rule: JoinSpec,
    sources: Mapping[str, SourceSpec],
    limits: LimitsSpec | None = None,
    readings: Readings | None = None,
) -> Table:
    """The joined table over all messages, without a bound on what a join looks back on."""
    every = list(messages)
    readings = readings or Readings(limits)
    left = readings.rows(every, sources[rule.left])
    right = readings.rows(every, sources[rule.right])
    return dict(joined_rows(left, right, rule, sources))


def joined_rows(
    left: Iterable[Row],
    right: Iterable[Row],
    rule: JoinSpec,
    sources: Mapping[str, SourceSpec],
) -> Iterator[tuple[str, dict[str, Value]]]:
    """Row ids and rows of the joined table, one by one, from messages that were read already."""
    columns = shown_columns(rule, sources)
    for pair in _PAIRS[rule.type](rule, left, right):
        yield _row_id(rule, pair), _joined(rule, columns, pair)


def _asof(rule: JoinSpec, users: Iterable[Row], accounts: Iterable[Row]) -> Iterator[_Pair]:
    users_of = _by_key(users, rule.left_key)
    times_of = {key: [user.ts for user in group] for key, group in users_of.items()}
    for account in accounts:
        key = account.values[rule.right_key]
        earlier = bisect_right(times_of.get(key, []), account.ts)
        yield users_of[key][earlier - 1] if earlier else None, account


def _left(rule: JoinSpec, users: Iterable[Row], accounts: Iterable[Row]) -> Iterator[_Pair]:
    accounts_of = _by_key(accounts, rule.right_key)
    for user in users:
        same_key = accounts_of.get(user.values[rule.left_key])
        yield user, same_key[-1] if same_key else None


def _inner(rule: JoinSpec, users: Iterable[Row], accounts: Iterable[Row]) -> Iterator[_Pair]:
    accounts_of = _by_key(accounts, rule.right_key)
    for user in users:
        for account in accounts_of.get(user.values[rule.left_key], []):
            if rule.age is None or abs(user.ts - account.ts) <= rule.age:
                yield user, account


_PAIRS = {JoinType.ASOF: _asof, JoinType.LEFT: _left, JoinType.INNER: _inner}


def _by_key(side: Iterable[Row], key: str) -> dict[Value, list[Row]]:
    """Each key's rows in their order; those without one are left out, for null equals nothing,
    not even null."""
    groups: dict[Value, list[Row]] = defaultdict(list)
    for row in side:
        if row.values[key] is not None:
            groups[row.values[key]].append(row)
    for group in groups.values():
        group.sort(key=lambda row: row.position)
    return dict(groups)


def _row_id(join: JoinSpec, pair: _Pair) -> str:
    left, right = pair
    if join.type is JoinType.INNER:
        return f"{_place(left)}:{_place(right)}"
    return _place(right if join.type is JoinType.ASOF else left)


def _place(row: Row | None) -> str:
    assert row is not None
    return f"{row.message.partition}:{row.message.offset}"


def _joined(
    join: JoinSpec, columns: Mapping[str, tuple[str, str]], pair: _Pair
) -> dict[str, Value]:
    side = dict(zip((join.left, join.right), pair, strict=True))
    result: dict[str, Value] = {}
    for shown, (source, column) in columns.items():
        row = side[source]
        result[shown] = row.values[column] if row else None
    result["ts"] = _time(join, pair)
    for source, row in side.items():
        result[f"_{source}_topic"] = row.message.topic if row else None
        result[f"_{source}_partition"] = row.message.partition if row else None
        result[f"_{source}_offset"] = row.message.offset if row else None
        result[f"_{source}_ts"] = row.ts if row else None
    return result


def _time(join: JoinSpec, pair: _Pair) -> int:
    """The driving message's time; of a pair that drives together, the later one."""
    left, right = pair
    if join.type is JoinType.INNER:
        return max(row.ts for row in pair if row)
    driving = right if join.type is JoinType.ASOF else left
    assert driving is not None
    return driving.ts
