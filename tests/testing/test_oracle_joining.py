"""Each cell of the table of three joins, worked out by hand."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from evergrid.testing import oracle
from evergrid.testing.oracle import JoinType, Message, Table

SPEC = oracle.from_config(
    {
        "sources": {
            "users": {"key": "id", "fields": {"id": "text", "name": "text"}},
            "accounts": {
                "key": "id",
                "fields": {"id": "text", "kind": "text", "balance": "decimal(10,2)"},
            },
        },
        "joins": {"final": {"left": "users", "right": "accounts"}},
    }
)
ANN = {"id": "a", "name": "Ann"}
CASH = {"id": "a", "kind": "cash", "balance": 5}


def user(offset: int, ms: int, value: object, partition: int = 0) -> Message:
    return Message("users", partition, offset, ms, None, json.dumps(value).encode())


def account(offset: int, ms: int, value: object, partition: int = 0) -> Message:
    return Message("accounts", partition, offset, ms, None, json.dumps(value).encode())


def joined(kind: JoinType, *messages: Message, pairs: int = 10_000) -> Table:
    join = replace(SPEC.joins["final"], type=kind, pairs=pairs)
    return oracle.join(messages, join, SPEC.sources, SPEC.limits)


def seen(table: Table, column: str) -> dict[str, object]:
    return {row_id: row[column] for row_id, row in table.items()}


# -- one row per, row id from, columns of the other side


def test_asof_gives_one_whole_row_per_account() -> None:
    table = joined(JoinType.ASOF, user(3, 10, ANN), account(4, 20, CASH, partition=1))
    assert table == {
        "1:4": {
            "id": "a",
            "kind": "cash",
            "balance": "5.00",
            "users_id": "a",
            "name": "Ann",
            "ts": 20_000,
            "_users_topic": "users",
            "_users_partition": 0,
            "_users_offset": 3,
            "_users_ts": 10_000,
            "_accounts_topic": "accounts",
            "_accounts_partition": 1,
            "_accounts_offset": 4,
            "_accounts_ts": 20_000,
        }
    }


def test_left_gives_one_whole_row_per_user() -> None:
    table = joined(JoinType.LEFT, user(3, 10, ANN), account(4, 20, CASH, partition=1))
    assert table == {
        "0:3": {
            "id": "a",
            "name": "Ann",
            "accounts_id": "a",
            "kind": "cash",
            "balance": "5.00",
            "ts": 10_000,
            "_users_topic": "users",
            "_users_partition": 0,
            "_users_offset": 3,
            "_users_ts": 10_000,
            "_accounts_topic": "accounts",
            "_accounts_partition": 1,
            "_accounts_offset": 4,
            "_accounts_ts": 20_000,
        }
    }


def test_inner_gives_one_whole_row_per_pair_with_the_later_time() -> None:
    table = joined(JoinType.INNER, user(3, 10, ANN), account(4, 20, CASH, partition=1))
    assert list(table) == ["0:3:1:4"]
    assert table["0:3:1:4"]["ts"] == 20_000
    assert list(table["0:3:1:4"])[:6] == ["id", "name", "accounts_id", "kind", "balance", "ts"]
    later_user = joined(JoinType.INNER, user(3, 30, ANN), account(4, 20, CASH, partition=1))
    assert seen(later_user, "ts") == {"0:3:1:4": 30_000}


def test_inner_gives_every_pair_of_a_key_and_none_across_keys() -> None:
    table = joined(
        JoinType.INNER,
        user(0, 1, ANN),
        user(1, 9, {"id": "a", "name": "Anne"}),
        user(2, 5, {"id": "b", "name": "Bo"}),
        account(0, 2, CASH),
        account(1, 3, {"id": "a", "kind": "gold"}),
        account(2, 3, {"id": "c", "kind": "gold"}),
    )
    assert {row_id: (row["name"], row["kind"]) for row_id, row in table.items()} == {
        "0:0:0:0": ("Ann", "cash"),
        "0:0:0:1": ("Ann", "gold"),
        "0:1:0:0": ("Anne", "cash"),
        "0:1:0:1": ("Anne", "gold"),
    }


def test_inner_pairs_a_message_with_its_newest_partners_before_it() -> None:
    users = [user(n, ms, {"id": "a", "name": f"{ms}"}) for n, ms in enumerate((1, 2, 3, 9))]
    accounts = [account(n, ms, CASH) for n, ms in enumerate((3, 4, 9))]
    table = joined(JoinType.INNER, *users, *accounts, pairs=2)
    pairs = {(row["name"], row["_accounts_ts"]) for row in table.values()}
    assert pairs == {
        *(("2", 3000), ("3", 3000), ("2", 4000), ("3", 4000), ("3", 9000), ("9", 9000)),
        *(("9", 3000), ("9", 4000)),
    }


def test_asof_matches_the_latest_user_not_after_the_account() -> None:
    users = [user(n, ms, {"id": "a", "name": f"at {ms}"}) for n, ms in enumerate((10, 20, 30))]
    accounts = [account(n, ms, CASH) for n, ms in enumerate((9, 10, 11, 20, 29, 30, 99))]
    assert list(seen(joined(JoinType.ASOF, *users, *accounts), "name").values()) == [
        None,
        "at 10",
        "at 10",
        "at 20",
        "at 20",
        "at 30",
        "at 30",
    ]


def test_left_matches_the_latest_account_however_old_or_new() -> None:
    newer = {"id": "a", "kind": "gold"}
    users = [user(0, 1, ANN), user(1, 50, ANN), user(2, 100, ANN)]
    table = joined(JoinType.LEFT, *users, account(0, 60, newer), account(1, 40, CASH))
    assert seen(table, "kind") == {"0:0": "gold", "0:1": "gold", "0:2": "gold"}


# -- no match


def test_without_a_match_asof_and_left_keep_the_row_and_inner_has_none() -> None:
    other = {"id": "b", "kind": "cash", "balance": 1}
    messages = (user(0, 1, ANN), account(0, 2, other))
    asof, left = joined(JoinType.ASOF, *messages), joined(JoinType.LEFT, *messages)
    assert asof["0:0"]["kind"] == "cash"
    assert left["0:0"]["name"] == "Ann"
    for column in ("topic", "partition", "offset", "ts"):
        assert asof["0:0"][f"_users_{column}"] is None
        assert left["0:0"][f"_accounts_{column}"] is None
    assert (asof["0:0"]["users_id"], asof["0:0"]["name"]) == (None, None)
    assert (left["0:0"]["accounts_id"], left["0:0"]["balance"]) == (None, None)
    assert joined(JoinType.INNER, *messages) == {}


# -- an account arrives, a user arrives


def test_an_account_arrives() -> None:
    before = (user(0, 1, ANN), user(1, 2, ANN), account(0, 3, CASH))
    after = (*before, account(1, 4, {"id": "a", "kind": "gold"}))
    for kind, expected in (
        (JoinType.ASOF, {"0:0": "cash", "0:1": "gold"}),
        (JoinType.LEFT, {"0:0": "gold", "0:1": "gold"}),
        (
            JoinType.INNER,
            {"0:0:0:0": "cash", "0:1:0:0": "cash", "0:0:0:1": "gold", "0:1:0:1": "gold"},
        ),
    ):
        assert seen(joined(kind, *after), "kind") == expected
        assert seen(joined(kind, *before), "kind") == {
            row_id: "cash" for row_id in expected if kind is JoinType.LEFT or row_id[-1] == "0"
        }


def test_a_user_arrives() -> None:
    before = (user(0, 1, ANN), account(0, 3, CASH), account(1, 9, CASH))
    after = (*before, user(1, 5, {"id": "a", "name": "late"}))
    for kind, expected in (
        (JoinType.ASOF, {"0:0": "Ann", "0:1": "late"}),
        (JoinType.LEFT, {"0:0": "Ann", "0:1": "late"}),
        (
            JoinType.INNER,
            {"0:0:0:0": "Ann", "0:0:0:1": "Ann", "0:1:0:0": "late", "0:1:0:1": "late"},
        ),
    ):
        assert seen(joined(kind, *after), "name") == expected
    assert seen(joined(JoinType.ASOF, *before), "name") == {"0:0": "Ann", "0:1": "Ann"}
    assert seen(joined(JoinType.LEFT, *after), "kind") == {"0:0": "cash", "0:1": "cash"}


# -- ties


@pytest.mark.parametrize(
    ("first", "second"), [((0, 5), (0, 6)), ((0, 9), (1, 2))], ids=["offset", "partition"]
)
def test_of_two_users_with_one_time_asof_takes_the_later_and_others_take_both(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    older = user(first[1], 7, {"id": "a", "name": "older"}, partition=first[0])
    newer = user(second[1], 7, {"id": "a", "name": "newer"}, partition=second[0])
    messages = (newer, account(0, 7, CASH), older)
    assert seen(joined(JoinType.ASOF, *messages), "name") == {"0:0": "newer"}
    assert sorted(map(str, seen(joined(JoinType.LEFT, *messages), "name").values())) == [
        "newer",
        "older",
    ]
    assert len(joined(JoinType.INNER, *messages)) == 2


def test_of_two_accounts_with_one_time_left_takes_the_later() -> None:
    messages = (
        account(8, 7, {"id": "a", "kind": "older"}),
        user(0, 1, ANN),
        account(3, 7, {"id": "a", "kind": "newer"}, partition=1),
    )
    assert seen(joined(JoinType.LEFT, *messages), "kind") == {"0:0": "newer"}


# -- the rules below the table


@pytest.mark.parametrize("nobody", [{"id": None}, {}], ids=["null", "missing"])
def test_no_key_never_matches_not_even_another(nobody: dict[str, None]) -> None:
    messages = (
        user(0, 1, {**nobody, "name": "Nobody"}),
        account(0, 2, {**nobody, "kind": "cash"}),
    )
    assert seen(joined(JoinType.ASOF, *messages), "name") == {"0:0": None}
    assert seen(joined(JoinType.LEFT, *messages), "kind") == {"0:0": None}
    assert joined(JoinType.INNER, *messages) == {}


def test_the_empty_text_is_a_key_like_any_other() -> None:
    messages = (user(0, 1, {"id": "", "name": "E"}), account(0, 2, {"id": "", "kind": "cash"}))
    assert seen(joined(JoinType.LEFT, *messages), "kind") == {"0:0": "cash"}


def test_the_latest_account_counts_as_a_whole() -> None:
    messages = (user(0, 1, ANN), account(0, 2, CASH), account(1, 3, {"id": "a"}))
    row = joined(JoinType.LEFT, *messages)["0:0"]
    assert (row["accounts_id"], row["kind"], row["balance"]) == ("a", None, None)
    assert row["_accounts_offset"] == 1


def test_bad_messages_and_tombstones_change_nothing() -> None:
    good = (user(0, 1, ANN), account(0, 2, CASH))
    bad = (
        Message("accounts", 0, 1, 9, b"a", None),
        Message("accounts", 0, 2, 9, b"a", b"not JSON"),
        account(3, 9, {"id": "a", "balance": "much"}),
        Message("users", 0, 1, 9, b"a", None),
    )
    for kind in JoinType:
        assert joined(kind, *good, *bad) == joined(kind, *good)


def test_order_of_arrival_changes_nothing() -> None:
    messages = [user(n, n % 3, {"id": "ab"[n % 2], "name": str(n)}) for n in range(9)]
    messages += [account(n, n % 4, {"id": "ab"[n % 2], "kind": str(n)}) for n in range(9)]
    for kind in JoinType:
        assert joined(kind, *messages) == joined(kind, *reversed(messages))


def test_keys_and_columns_are_the_configurations() -> None:
    join = replace(
        SPEC.joins["final"],
        right_key="kind",
        columns={"who": ("users", "name"), "cash": ("accounts", "balance")},
    )
    messages = (user(0, 1, ANN), account(0, 2, {"id": "x", "kind": "a", "balance": 1}))
    row = oracle.join(messages, join, SPEC.sources, SPEC.limits)["0:0"]
    assert list(row)[:3] == ["who", "cash", "ts"]
    assert (row["who"], row["cash"]) == ("Ann", "1.00")


def test_a_time_field_orders_the_join() -> None:
    timed = {
        "sources": {
            "users": {"key": "id", "time": "at", "fields": {"id": "text", "at": "timestamp(s)"}},
            "accounts": {"key": "id", "time": "at", "fields": {"id": "text", "at": "timestamp"}},
        },
        "joins": {"j": {"left": "users", "right": "accounts", "type": "asof"}},
    }
    spec = oracle.from_config(timed)
    messages = (
        user(0, 99, {"id": "a", "at": 5}),
        account(0, 1, {"id": "a", "at": 5000}),
        account(1, 100, {"id": "a", "at": 4999}),
    )
    table = oracle.join(messages, spec.joins["j"], spec.sources, spec.limits)
    assert seen(table, "_users_offset") == {"0:0": 0, "0:1": None}
    assert seen(table, "ts") == {"0:0": 5_000_000, "0:1": 4_999_000}


# -- many messages


@pytest.mark.parametrize("seed", range(20))
def test_sorted_matches_are_those_that_looking_at_every_row_finds(seed: int) -> None:
    rng = random.Random(seed)
    users = [user(n, rng.randrange(30), {"id": rng.choice("ab")}, n % 2) for n in range(40)]
    accounts = [account(n, rng.randrange(30), {"id": rng.choice("abc")}, n % 3) for n in range(40)]
    asof = joined(JoinType.ASOF, *users, *accounts)
    left = joined(JoinType.LEFT, *users, *accounts)
    for one in accounts:
        earlier = [u for u in users if u.value == one.value and u.timestamp_ms <= one.timestamp_ms]
        row = asof[f"{one.partition}:{one.offset}"]
        assert (row["_users_partition"], row["_users_offset"]) == _latest(earlier)
    for one in users:
        row = left[f"{one.partition}:{one.offset}"]
        same = [a for a in accounts if a.value == one.value]
        assert (row["_accounts_partition"], row["_accounts_offset"]) == _latest(same)


def _latest(messages: list[Message]) -> tuple[int | None, int | None]:
    if not messages:
        return None, None
    last = max(messages, key=lambda m: (m.timestamp_ms, m.partition, m.offset))
    return last.partition, last.offset


def test_a_key_with_fifty_thousand_messages_takes_seconds() -> None:
    users = [user(n, n, {"id": "hot" if n % 2 else f"k{n % 100}"}) for n in range(50_000)]
    accounts = [account(n, n, {"id": "hot" if n % 2 else "none"}) for n in range(50_000)]
    readings = oracle.Readings()
    for kind in (JoinType.ASOF, JoinType.LEFT):
        join = replace(SPEC.joins["final"], type=kind)
        table = oracle.join([*users, *accounts], join, SPEC.sources, readings=readings)
        assert len(table) == 50_000
