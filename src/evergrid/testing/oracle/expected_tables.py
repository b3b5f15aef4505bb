"""What each table holds: a source's rows, quarantine, and the three joins."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from evergrid.testing.oracle.field import Value
from evergrid.testing.oracle.message import Bad, Message, Row, read
from evergrid.testing.oracle.spec import (
    JoinSpec,
    JoinType,
    LimitsSpec,
    SourceSpec,
    shown_columns,
)

# A whole table: row id → column → value, as the changelog's JSON shows it.
Table = dict[str, dict[str, Value]]

_Pair = tuple[Row | None, Row | None]


class Readings:
    """Reads each message once, however many tables it is asked for."""

    def __init__(self, limits: LimitsSpec | None = None) -> None:
        self._limits = limits or LimitsSpec()
        self._known: dict[str, dict[Message, Row | Bad]] = {}  # by how the source is specified

    def of(self, messages: Iterable[Message], source: SourceSpec) -> list[Row | Bad]:
        """What each message of the source's topic is, in the messages' order."""
        known = self._known.setdefault(repr(source), {})
        readings = []
        for message in messages:
            if message.topic == source.topic:
                reading = known.get(message)
                if reading is None:
                    reading = known[message] = read(message, source, self._limits)
                readings.append(reading)
        return readings

    def rows(self, messages: Iterable[Message], source: SourceSpec) -> list[Row]:
        """The rows among `messages`, bad ones and other topics' left out."""
        return [one for one in self.of(messages, source) if isinstance(one, Row)]


def raw(
    messages: Iterable[Message],
    source: SourceSpec,
    limits: LimitsSpec | None = None,
    readings: Readings | None = None,
) -> Table:
    """The source's table: one row for each message that can be one."""
    return {
        row.message.place: {
            **row.values,
            "ts": row.ts,
            "_partition": row.message.partition,
            "_offset": row.message.offset,
            "_unknown_fields": row.unknown_fields,
        }
        for row in (readings or Readings(limits)).rows(messages, source)
    }


def quarantine(
    messages: Iterable[Message],
    sources: Mapping[str, SourceSpec],
    limits: LimitsSpec | None = None,
    readings: Readings | None = None,
) -> Table:
    """The quarantine table: one row for each message of a source that could not be one."""
    every = list(messages)
    readings = readings or Readings(limits)
    return {
        f"{bad.message.topic}:{bad.message.place}": {
            "topic": bad.message.topic,
            "reason": bad.reason,
            "text": bad.text,
            "ts": bad.message.timestamp_ms * 1000,
            "_partition": bad.message.partition,
            "_offset": bad.message.offset,
        }
        for source in sources.values()
        for bad in readings.of(every, source)
        if isinstance(bad, Bad)
    }


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
        side = dict(zip((rule.left, rule.right), pair, strict=True))
        driving = pair if rule.type is JoinType.INNER else (side[rule.driving],)
        # Of a pair that drives together, the later one's time
        ts = max(row.ts for row in driving if row)
        yield ":".join(row.message.place for row in driving if row), _joined(columns, side, ts)


def _asof(rule: JoinSpec, users: Iterable[Row], accounts: Iterable[Row]) -> Iterator[_Pair]:
    """Each row finds its match among the sorted rows of its key."""
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
    """Each message with the newest of those before it; at the same time the user is before."""
    accounts_of = _by_key(accounts, rule.right_key)
    for key, same_users in _by_key(users, rule.left_key).items():
        same_accounts = accounts_of.get(key, [])
        user_times = [user.ts for user in same_users]
        account_times = [account.ts for account in same_accounts]
        for account in same_accounts:
            before = bisect_right(user_times, account.ts)
            for user in _newest(rule, same_users, before, account.ts):
                yield user, account
        for user in same_users:
            before = bisect_left(account_times, user.ts)
            for account in _newest(rule, same_accounts, before, user.ts):
                yield user, account


def _newest(rule: JoinSpec, rows: list[Row], before: int, ts: int) -> Iterator[Row]:
    """The partners of a message of this time, among the first `before` rows of the other side."""
    newest = rows[max(0, before - rule.pairs) : before]
    return (row for row in newest if rule.age is None or ts - row.ts <= rule.age)


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


def _joined(
    columns: Mapping[str, tuple[str, str]], side: Mapping[str, Row | None], ts: int
) -> dict[str, Value]:
    result: dict[str, Value] = {}
    for shown, (source, column) in columns.items():
        row = side[source]
        result[shown] = row.values[column] if row else None
    result["ts"] = ts
    for source, row in side.items():
        result[f"_{source}_topic"] = row.message.topic if row else None
        result[f"_{source}_partition"] = row.message.partition if row else None
        result[f"_{source}_offset"] = row.message.offset if row else None
        result[f"_{source}_ts"] = row.ts if row else None
    return result
