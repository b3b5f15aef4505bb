"""The three joins, as their definitions read: for each row, look at all rows of its key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from evergrid.testing.oracle.message import Message, Row, Table, Value
from evergrid.testing.oracle.raw import rows
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
) -> Table:
    """The joined table, with all history looked at and no bound on it."""
    every = list(messages)
    limits = limits or LimitsSpec()
    left = rows(every, sources[rule.left], limits)
    right = rows(every, sources[rule.right], limits)
    pairs = _PAIRS[rule.type](rule, left, right)
    return {_row_id(rule, pair): _joined(rule, sources, pair) for pair in pairs}


def _asof(join: JoinSpec, users: list[Row], accounts: list[Row]) -> Iterator[_Pair]:
    users_of = _by_key(users, join.left_key)
    for account in accounts:
        same_key = users_of.get(account.values[join.right_key], [])
        yield _latest([user for user in same_key if user.ts <= account.ts]), account


def _left(join: JoinSpec, users: list[Row], accounts: list[Row]) -> Iterator[_Pair]:
    accounts_of = _by_key(accounts, join.right_key)
    for user in users:
        yield user, _latest(accounts_of.get(user.values[join.left_key], []))


def _inner(join: JoinSpec, users: list[Row], accounts: list[Row]) -> Iterator[_Pair]:
    accounts_of = _by_key(accounts, join.right_key)
    for user in users:
        for account in accounts_of.get(user.values[join.left_key], []):
            yield user, account


_PAIRS = {JoinType.ASOF: _asof, JoinType.LEFT: _left, JoinType.INNER: _inner}


def _by_key(side: list[Row], key: str) -> dict[Value, list[Row]]:
    """Rows by key; those without one are left out, for null equals nothing, not even null."""
    groups: dict[Value, list[Row]] = defaultdict(list)
    for row in side:
        if row.values[key] is not None:
            groups[row.values[key]].append(row)
    return dict(groups)


def _latest(candidates: list[Row]) -> Row | None:
    return max(candidates, key=lambda row: row.position, default=None)


def _row_id(join: JoinSpec, pair: _Pair) -> str:
    left, right = pair
    sides = {JoinType.ASOF: [right], JoinType.LEFT: [left], JoinType.INNER: [left, right]}
    return ":".join(
        f"{row.message.partition}:{row.message.offset}" for row in sides[join.type] if row
    )


def _joined(join: JoinSpec, sources: Mapping[str, SourceSpec], pair: _Pair) -> dict[str, Value]:
    side = dict(zip((join.left, join.right), pair, strict=True))
    result: dict[str, Value] = {}
    for shown, (source, column) in shown_columns(join, sources).items():
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
